package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The times of a client.
const (
	heartbeat = 15 * time.Second // of silence, after which a comment is sent
	writeTime = 10 * time.Second // for one message; who needs longer is cut off
	comeBack  = 2 * time.Second  // after which a browser asks again
)

// update is a message to a client: what the page shows, and the points of the graph
// since the last message.
type update struct {
	View   json.RawMessage `json:"view"`
	Points []point         `json:"points"`
}

// events sends what the page shows as it changes, as server-sent events (HTML living
// standard, section 9.2), until the client goes or the server ends.
//
// The number of an event is that of its last point. A browser that comes back names
// the last one it got, and is sent the points after it. A number that is not from here
// (an earlier process, or anything else) gets it all points there are: a page draws
// what it is sent by number, so that does no harm.
func (l *Live) events(w http.ResponseWriter, r *http.Request) {
	m := l.monitor
	if !m.enter(l.opts.Clients) {
		w.Header().Set("Retry-After", "10")
		say(w, http.StatusServiceUnavailable, fmt.Sprintf("%d clients follow the status already; the page itself can be reloaded", l.opts.Clients))
		return
	}
	defer m.leave()
	last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil || last < 0 {
		last = 0
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers would deliver in heaps
	c := &client{w: w, control: http.NewResponseController(w)}
	if r.Method == http.MethodHead {
		return
	}
	if err := c.send(fmt.Appendf(nil, "retry: %d\n\n", comeBack.Milliseconds())); err != nil {
		return // gone
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	_ = c.follow(ctx, m, last) // it went, or was too slow: it may come back
}

// client is one that follows.
type client struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// follow sends updates until ctx ends or the client fails.
func (c *client) follow(ctx context.Context, m *monitor, last int64) error {
	silence := time.NewTimer(heartbeat)
	defer silence.Stop()
	for ctx.Err() == nil {
		message, points, fresh := m.after(last)
		if len(points) > 0 {
			b, err := json.Marshal(update{message, points})
			if err != nil {
				return fmt.Errorf("web/live: encode an update: %w", err)
			}
			last = points[len(points)-1].Seq
			if err := c.send(fmt.Appendf(nil, "id: %d\nevent: update\ndata: %s\n\n", last, b)); err != nil {
				return err
			}
			silence.Reset(heartbeat)
		}
		select {
		case <-fresh:
		case <-silence.C:
			if err := c.send([]byte(": still here\n\n")); err != nil {
				return err
			}
			silence.Reset(heartbeat)
		case <-ctx.Done():
		}
	}
	return nil
}

// send writes and flushes, in bounded time.
func (c *client) send(b []byte) error {
	if err := c.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	return c.control.Flush()
}
