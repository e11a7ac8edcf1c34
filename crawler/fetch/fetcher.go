package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/coding"
	"github.com/webindexer/indexer/page"
)

var errClosed = errors.New("the fetcher is closed")

// Fetcher makes exchanges. It is safe for concurrent use. Its callers limit how many
// requests run at a time, and how often one host is asked.
type Fetcher struct {
	opts      Options
	dialer    *dialer
	transport *http.Transport

	mu      sync.Mutex // guards closed, and fetches.Add against Close's Wait
	closed  bool
	fetches sync.WaitGroup
}

// New returns a Fetcher. Close it when it is no longer needed.
func New(o Options) *Fetcher {
	f := &Fetcher{opts: o.WithDefaults()}
	f.dialer = newDialer(&f.opts)
	f.transport = &http.Transport{
		DialContext:            f.dialer.dial,
		DisableCompression:     true, // readBody removes codings, and records them
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           f.opts.MaxIdle,
		MaxIdleConnsPerHost:    f.opts.MaxIdlePerHost,
		IdleConnTimeout:        f.opts.IdleTime,
		ResponseHeaderTimeout:  f.opts.HeaderTime,
		TLSHandshakeTimeout:    f.opts.TLSTime,
		MaxResponseHeaderBytes: f.opts.MaxHeader,
		OnProxyConnectResponse: onProxyConnect,
		// Detect a dead HTTP/2 connection before the next fetches hang on it, but not before
		// HeaderTime: a host that does not answer has the same result whether it answers pings or not.
		// What comes while a body waits for its Reservation is buffered.
		HTTP2: &http.HTTP2Config{SendPingTimeout: f.opts.HeaderTime / 2, PingTimeout: f.opts.HeaderTime, MaxReceiveBufferPerStream: FreeBody},
	}
	if f.opts.Proxy == nil {
		f.transport.DialTLSContext = f.dialer.dialTLS
	} else {
		f.transport.Proxy = http.ProxyURL(f.opts.Proxy)
		f.transport.TLSClientConfig = f.dialer.tls.Clone()
	}
	return f
}

// Fetch makes one exchange and always returns a result; Class tells a failure. It
// blocks until the exchange is over, at most for Options.TotalTime (besides the time for
// which r.Reservation waits), and leaves nothing behind except, possibly, an idle connection.
func (f *Fetcher) Fetch(ctx context.Context, r Request) Result {
	start := time.Now()
	res := Result{Fetch: page.Fetch{URL: r.URL, Time: start.Round(0).UTC()}}
	if !f.begin() {
		res.fail(&failure{Canceled, "the crawler is closing", errClosed})
		return res
	}
	defer f.fetches.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := startTimeLimit(f.opts.TotalTime, func() {
		cancel(&failure{class: Timeout, text: fmt.Sprintf("not done within %v", f.opts.TotalTime)})
	})
	defer total.stop()
	if err := f.exchange(ctx, cancel, total, r, &res); err != nil {
		res.fail(f.classify(ctx, err))
	}
	r.Reservation.keep(len(res.Payload), len(res.Fetch.Body))
	res.Timings.Waited, res.Timings.Total = total.paused, time.Since(start)
	return res
}

func (f *Fetcher) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.fetches.Add(1)
	}
	return !f.closed
}

// Close waits until the fetches under way have ended (cancel their contexts to end
// them) and closes all connections. Later fetches fail with the class Canceled.
func (f *Fetcher) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.fetches.Wait()
	f.transport.CloseIdleConnections()
	f.dialer.conns.close()
}

// exchange fills res. The fields that it has filled when it fails are valid.
func (f *Fetcher) exchange(ctx context.Context, cancel context.CancelCauseFunc, total *timeLimit, r Request, res *Result) error {
	if reason := refuseHost(r.URL.Host()); reason != "" && !f.opts.AllowPrivate {
		return &failure{class: RefusedAddress, text: reason}
	}
	t := newTrace(f.opts.MaxHeader)
	ctx = context.WithValue(httptrace.WithClientTrace(ctx, t.hooks(cancel)), fetchKey{}, ctx)
	req := f.newRequest(ctx, r)
	var err error
	if res.RequestBlock, err = requestBlock(req); err != nil {
		return &failure{BadRequest, "the URL makes no valid request", err}
	}
	f.addSecrets(req, r.URL)
	resp, err := f.transport.RoundTrip(req)
	header := t.finish(res)
	if err != nil && t.isTooLong(err) {
		return f.headerTooLarge(err)
	}
	if err != nil {
		return ended(ctx, err)
	}
	defer resp.Body.Close()
	r.Cookies.keep(r.URL, resp)
	codings, err := res.describe(resp, header)
	if err != nil {
		return err
	}
	t.learn(res.Fetch.Header)
	if err := checkStatus(req, resp); err != nil {
		return err
	}
	res.Payload, err = f.readBody(ctx, cancel, total, resp, r)
	if err != nil {
		res.Truncated = true
		err = ended(ctx, err)
	} else {
		res.Fetch.Revisit = resp.StatusCode == http.StatusNotModified
		res.Fetch.Body, err = f.decode(ctx, total, res.Payload, codings, r)
	}
	if err != nil && r.Enough > 0 {
		res.Head = coding.Head(res.Payload, codings, r.Enough)
	}
	return err
}

// ended adds to an error the reason why our side ended the exchange, if it did.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return errors.Join(context.Cause(ctx), err)
}
