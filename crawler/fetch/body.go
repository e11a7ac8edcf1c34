package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/webindexer/indexer/internal/coding"
)

// readBody reads the payload. On failure it returns what it has read with the error.
// cancel ends the exchange when the body is too slow.
func (f *Fetcher) readBody(ctx context.Context, cancel context.CancelCauseFunc, total *timeLimit, resp *http.Response, r Request) ([]byte, error) {
	limit := cmp.Or(r.MaxBody, f.opts.MaxPayload)
	tooLarge := &failure{class: TooLarge, text: fmt.Sprintf("the payload is over %d bytes", limit)}
	if resp.ContentLength > limit && r.Enough == 0 {
		return nil, tooLarge // do not read any of it
	}
	p := startPace(f.opts.StallTime, f.opts.MinRate, cancel)
	defer p.stop()
	body := io.LimitReader(paced{resp.Body, p}, limit+1)
	payload, err := io.ReadAll(io.LimitReader(body, FreeBody+1))
	if err == nil && len(payload) > FreeBody {
		most := limit
		if resp.ContentLength > 0 {
			most = min(limit, resp.ContentLength)
		}
		p.stop()
		err = total.pause(func() error { return r.Reservation.takePayload(ctx, most) })
		p.restart(total.paused)
		if err == nil {
			payload, err = readRest(payload, body, most)
		}
	}
	switch {
	case int64(len(payload)) > limit:
		return payload[:limit], tooLarge
	case err == nil:
		return payload, nil
	case ctx.Err() == nil && !isReset(err) && !isTLS(err):
		err = &failure{BadResponse, "the body is not valid HTTP", err}
	}
	return payload, err
}

// readRest appends the rest of a body to its beginning. It uses the reserved memory: room for most
// bytes, and for one more, which shows that the body is too large.
func readRest(begun []byte, body io.Reader, most int64) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, most+1+bytes.MinRead))
	buf.Write(begun)
	_, err := buf.ReadFrom(body)
	if b := buf.Bytes(); len(b) > cap(b)/2 {
		return b, err
	}
	return bytes.Clone(buf.Bytes()), err // the reservation shrinks to its length
}

// pace ends an exchange whose body stalls or drips. It has one deadline at a time:
// StallTime after the last bytes, and not later than the time up to which the bytes
// received satisfy the minimum rate.
type pace struct {
	stall time.Duration
	rate  int64 // bytes per second
	start time.Time
	timer *time.Timer
	total int64
}

func startPace(stall time.Duration, rate int64, cancel context.CancelCauseFunc) *pace {
	p := &pace{stall: stall, rate: rate, start: time.Now()}
	p.timer = time.AfterFunc(stall, func() {
		cancel(&failure{class: Timeout, text: fmt.Sprintf("the body stalls or comes at less than %d bytes per second", rate)})
	})
	return p
}

// got moves the deadline for n bytes.
func (p *pace) got(n int) {
	p.total += int64(n)
	enough := time.Duration(float64(p.total) / float64(p.rate) * float64(time.Second))
	p.timer.Reset(min(p.stall, p.stall+enough-time.Since(p.start)))
}

func (p *pace) stop() { p.timer.Stop() }

// restart resumes after a stop. The server is not expected to have sent anything meanwhile.
func (p *pace) restart(stopped time.Duration) {
	p.start = p.start.Add(stopped)
	p.got(0)
}

// paced is a reader whose pace is checked.
type paced struct {
	r io.Reader
	p *pace
}

func (r paced) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err == nil || errors.Is(err, io.EOF) {
		r.p.got(n)
	}
	return n, err
}

// decode removes content codings by the rules of package coding. It may return payload
// itself.
func (f *Fetcher) decode(ctx context.Context, total *timeLimit, payload []byte, codings []string, r Request) ([]byte, error) {
	limit := cmp.Or(r.MaxBody, f.opts.MaxBody)
	first := limit
	if len(codings) > 0 {
		first = min(limit, FreeBody)
	}
	body, _, err := coding.Decode(payload, codings, first)
	if errors.Is(err, coding.ErrTooLong) && first < limit {
		if err := total.pause(func() error { return r.Reservation.takeDecoded(ctx, limit) }); err != nil {
			return nil, ended(ctx, err)
		}
		body, _, err = coding.Decode(payload, codings, limit)
	}
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, coding.ErrTooLong):
		return nil, &failure{class: TooLarge, text: fmt.Sprintf("the decoded body is over %d bytes", limit)}
	case errors.Is(err, coding.ErrStacked):
		return nil, &failure{class: BadResponse, text: fmt.Sprintf("more than %d content codings", coding.MaxStacked)}
	case errors.Is(err, coding.ErrUnknown):
		return nil, &failure{class: BadResponse, text: "the body does not decode: " + err.Error()}
	}
	return nil, &failure{BadResponse, "the body does not decode", err}
}
