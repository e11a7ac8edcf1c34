package fetch

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a connection of a Fetcher. It knows where it leads and how long making it
// took, is on the Fetcher's list until it is closed, and can keep a copy of what it
// reads.
type conn struct {
	net.Conn
	made made
	list *connList
	tape tape
	kept atomic.Int64 // how long the server keeps it idle, in ns; 0: not known
	sent atomic.Int64 // bytes written
	came atomic.Int64 // bytes read
	// guard is Options.Guard. It is called right before the system call, because a process
	// may be suspended for minutes at any point: while it resolves a name, while it
	// connects, between the handshake and the request.
	guard func() error
}

// made is what is known about how a connection was made.
type made struct {
	remote                netip.AddrPort // zero: a proxy
	resolve, connect, tls time.Duration
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.came.Add(int64(n))
	c.tape.add(p[:n])
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.guard != nil {
		if err := c.guard(); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

func (c *conn) Close() error {
	c.list.remove(c)
	return c.Conn.Close()
}

// learnKept notes what a response says about the connection.
func (c *conn) learnKept(h http.Header) { c.kept.Store(int64(keptFor(h))) }

// mayClose reports whether the server may be about to close the connection after it was
// idle for some time. A request that crosses the end of its connection fails, and a delay
// between requests that is as long as the server waits would make many of them do so.
func (c *conn) mayClose(idle time.Duration) bool {
	kept := time.Duration(c.kept.Load())
	return kept > 0 && idle > kept-min(time.Second, kept/2)
}

// keptFor returns how long a server keeps an idle connection, according to its Keep-Alive
// field (RFC 2068 section 19.7.1.1; Apache and Node.js send it); 0 if it does not say.
func keptFor(h http.Header) time.Duration {
	for _, field := range h["Keep-Alive"] {
		for parameter := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(parameter, "=")
			seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 16)
			if err == nil && strings.EqualFold(strings.TrimSpace(name), "timeout") {
				return time.Duration(seconds) * time.Second
			}
		}
	}
	return 0
}

// tape keeps the beginning of what a connection reads, from start to header. The lock
// is needed because the transport reads in a goroutine of its own.
type tape struct {
	mu    sync.Mutex
	room  int64 // how many more bytes to keep
	bytes []byte
}

func (t *tape) start(limit int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.room, t.bytes = limit, nil
}

func (t *tape) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p = p[:min(int64(len(p)), t.room)]
	t.room -= int64(len(p))
	t.bytes = append(t.bytes, p...)
}

// header stops the tape and returns the header of the final response on it, without
// interim ones, or nil if it is incomplete.
func (t *tape) header() []byte {
	t.mu.Lock()
	b := t.bytes
	t.room, t.bytes = 0, nil
	t.mu.Unlock()
	for {
		n := headerLength(b)
		if n < 0 {
			return nil
		}
		if !isInterim(b) {
			return bytes.Clone(b[:n])
		}
		b = b[n:]
	}
}

// headerLength is the length in bytes of the header at the beginning of b, including
// its empty line, or -1 if it does not end. Lines end in LF, with or without CR.
func headerLength(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1
		}
		if line := bytes.TrimSuffix(b[at:at+i], []byte("\r")); len(line) == 0 {
			return at + i + 1
		}
		at += i + 1
	}
}

// isInterim reports whether b begins with a 1xx status line, except 101, which ends
// HTTP.
func isInterim(b []byte) bool {
	_, rest, _ := bytes.Cut(b, []byte(" "))
	rest = bytes.TrimLeft(rest, " ")
	return bytes.HasPrefix(rest, []byte("1")) && !bytes.HasPrefix(rest, []byte("101"))
}

// connList lists a Fetcher's open connections and counts those that are being made.
// After close there are none of either.
type connList struct {
	mu     sync.Mutex
	closed bool
	open   map[*conn]struct{}
	dials  sync.WaitGroup // Add only under mu, and not after close
}

// begin announces a dial; dials.Done ends it.
func (l *connList) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	l.dials.Add(1)
	return nil
}

// add adds c to the list, or closes it if the list is closed.
func (l *connList) add(c *conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Conn.Close() // nothing was sent on it
		return errClosed
	}
	if l.open == nil {
		l.open = make(map[*conn]struct{})
	}
	l.open[c] = struct{}{}
	return nil
}

func (l *connList) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// close closes the list and all connections on it, and waits for the dials.
func (l *connList) close() {
	l.mu.Lock()
	l.closed = true
	open := l.open
	l.open = nil
	l.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close() // no exchange is under way on it
	}
	l.dials.Wait()
}
