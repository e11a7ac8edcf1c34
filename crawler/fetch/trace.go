package fetch

import (
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// trace follows one exchange through the transport. The transport's goroutines call its
// hooks, sometimes even after RoundTrip has returned.
type trace struct {
	maxHeader int64

	mu        sync.Mutex
	conn      *conn // speaks HTTP/1.x; nil with HTTP/2
	sentOn    int64 // bytes that earlier requests have sent on conn
	under     *conn // below TLS; only with HTTP/2
	cameOn    int64 // bytes that had come on under before
	made      made
	reused    bool
	sent      time.Time
	firstByte time.Time
}

func newTrace(maxHeader int64) *trace { return &trace{maxHeader: maxHeader} }

// onlyOnce abandons the exchange before the transport sends the request a second time:
// net/http repeats a GET at once, on a fresh connection, if a kept one was closed
// before a byte of the response came. The server may have seen the first request, and
// one call of Fetch must not make two. A request that was never written may be sent on
// another connection.
func (t *trace) onlyOnce(giveUp func(error)) func(string) {
	return func(string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.isSent() {
			giveUp(&failure{class: Reset, text: "the connection was closed before a response came"})
		}
	}
}

// isSent reports whether any of the request may have reached the server. For HTTP/1.x the
// connection knows: WroteRequest is called when the request is in a buffer.
func (t *trace) isSent() bool {
	if t.conn != nil {
		return t.conn.sent.Load() > t.sentOn
	}
	return !t.sent.IsZero()
}

func (t *trace) hooks(giveUp func(error)) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: t.onlyOnce(giveUp),
		GotConn: t.gotConn,
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if info.Err == nil {
				t.sent = time.Now()
			}
		},
		GotFirstResponseByte: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.firstByte = time.Now()
		},
	}
}

// gotConn starts the tape before the request is written; everything read from then on
// is the response. The transport calls it again when it takes another connection.
func (t *trace) gotConn(info httptrace.GotConnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn, t.under, t.made, t.reused = nil, nil, made{}, info.Reused
	switch c := info.Conn.(type) {
	case *conn:
		t.conn, t.made, t.sentOn = c, c.made, c.sent.Load()
		if c.mayClose(info.IdleTime) {
			_ = c.Close() // nothing was written on it: the transport takes another one
		}
		// Interim responses may take as much again.
		c.tape.start(2 * t.maxHeader)
	case *tls.Conn:
		if raw, ok := c.NetConn().(*conn); ok {
			t.under, t.cameOn, t.made = raw, raw.came.Load(), raw.made
		}
	}
}

// firstFrame is how much of a header comes in its first frame, if there is more: no server
// may send larger frames unless the client permits it (RFC 9113 section 4.2).
const firstFrame = 16 << 10

// isTooLong reports whether an HTTP/2 connection has ended because a response header is over
// the limit. The transport closes the connection then, if the limit is exceeded by much or by
// one field, and gives the same reasons as for a header that is not valid. But then a whole
// frame of it has come.
func (t *trace) isTooLong(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.under == nil || t.under.came.Load()-t.cameOn < min(t.maxHeader, firstFrame) {
		return false
	}
	return strings.HasSuffix(err.Error(), "connection error: PROTOCOL_ERROR") ||
		strings.HasSuffix(err.Error(), "connection error: COMPRESSION_ERROR")
}

// learn notes what the response says about its connection.
func (t *trace) learn(h http.Header) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil {
		t.conn.learnKept(h)
	}
}

// finish stores what is known about the connection in res, and returns the header as
// received, if it was copied.
func (t *trace) finish(res *Result) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	res.RemoteAddr, res.Reused = t.made.remote, t.reused
	if !t.reused {
		res.Timings.Resolve, res.Timings.Connect, res.Timings.TLS = t.made.resolve, t.made.connect, t.made.tls
	}
	if t.firstByte.After(t.sent) && !t.sent.IsZero() {
		res.Timings.FirstByte = t.firstByte.Sub(t.sent)
	}
	if t.conn == nil {
		return nil
	}
	return t.conn.tape.header()
}
