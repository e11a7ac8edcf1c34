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

// Timing of the connection to a client.
const (
	heartbeat = 15 * time.Second // of silence before a comment is sent
	writeTime = 10 * time.Second // for one message, before the client is cut off
	comeBack  = 2 * time.Second  // before a browser reconnects
)

// update is a message to a client: the view of the page, and the points of the graph since
// the last message.
type update struct {
	View   json.RawMessage `json:"view"`
	Points []point         `json:"points"`
}

// events sends updates as server-sent events (HTML living standard, section 9.2), until
// the client disconnects or the server ends.
//
// The ID of an event is the number of its last point. A browser that reconnects sends the
// last ID that it got, and receives the points after it. With an unknown ID, such as one
// from an earlier process, it receives all points. That is harmless, because the page
// draws each number once.
func (l *Live) events(w http.ResponseWriter, r *http.Request) {
	m := l.monitor
	if !m.enter(l.opts.Clients) {
		w.Header().Set("Retry-After", "10")
		say(w, http.StatusServiceUnavailable, fmt.Sprintf("no more clients can follow the status (limit: %d); reload the page instead", l.opts.Clients))
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
	h.Set("X-Accel-Buffering", "no") // keep proxies from buffering events
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
	_ = c.follow(ctx, m, last) // it disconnected or was too slow, and may reconnect
}

// client is a client of the events.
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

// send writes and flushes within writeTime.
func (c *client) send(b []byte) error {
	if err := c.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	return c.control.Flush()
}
