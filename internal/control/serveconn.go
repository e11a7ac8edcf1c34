package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Handler answers a request: it writes the output and returns the exit status. Several
// goroutines may write at a time. ctx ends when the client no longer wants the answer.
type Handler func(ctx context.Context, req Request, stdout, stderr io.Writer) (status int)

// serveConn answers the request of one connection and closes it. Whatever the client
// does, the worst result is a lost answer.
func serveConn(ctx context.Context, conn net.Conn, h Handler) {
	req, err := readRequest(ctx, conn)
	if ctx.Err() != nil && err != nil {
		_ = conn.Close() // to the client, this process has ended
		return
	}
	if err != nil {
		refuse(conn, refusal{Reason: err.Error()})
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &peer{conn: conn, ctx: ctx, turn: make(chan struct{}, 1)}
	stop := context.AfterFunc(ctx, p.hurry)
	watching := make(chan struct{})
	go func() { // ends when serveConn closes the connection
		defer close(watching)
		defer cancel()
		_, _ = conn.Read(make([]byte, 1)) // the client sends nothing more, so this returns when it closes the connection
	}()
	alive := p.keepAlive(cancel)
	answer(ctx, p, req, h)
	alive()
	stop()
	_ = conn.Close() // there is no one to report an error to
	<-watching
}

func answer(ctx context.Context, p *peer, req Request, h Handler) {
	stdout := bufio.NewWriterSize(&frameWriter{peer: p, kind: frameOutput}, maxFrame)
	stderr := &frameWriter{peer: p, kind: frameError, before: stdout}
	var turn sync.Mutex
	status := h(ctx, req, &turnWriter{&turn, stdout}, &turnWriter{&turn, stderr})
	if err := stdout.Flush(); err != nil {
		return // the client is gone
	}
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.extend()
	_ = writeJSONFrame(p.conn, frameExit, exit{Status: status}) // as above
}

// signOfLife is the interval between heartbeats.
const signOfLife = time.Second

// keepAlive sends a heartbeat at once and then at intervals, so that an answer that takes
// hours, or prints nothing while it counts, does not look like a stopped process. The
// returned function stops the heartbeats. If the client no longer takes them, keepAlive
// calls giveUp.
func (p *peer) keepAlive(giveUp func()) (end func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(signOfLife)
		defer tick.Stop()
		for {
			if err := p.write(frameAlive, nil); err != nil {
				giveUp()
				return
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}

// readRequest reads the request of a connection. When ctx ends, it no longer waits for it.
func readRequest(ctx context.Context, conn net.Conn) (Request, error) {
	var req Request
	if err := conn.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
		return req, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer stop()
	kind, payload, err := readFrame(conn)
	if err != nil {
		return req, fmt.Errorf("the request cannot be read: %w", err)
	}
	if kind != frameRequest {
		return req, fmt.Errorf("a frame of kind %q instead of a request", kind)
	}
	if err := json.Unmarshal(payload, &req); err != nil {
		return req, fmt.Errorf("the request cannot be read: %w", err)
	}
	if req.Version != version {
		return req, fmt.Errorf("it uses version %d of the protocol, and this request version %d; use the same version of indexer", version, req.Version)
	}
	return req, conn.SetReadDeadline(time.Time{})
}

// refuse says why a request is not answered, and closes the connection. It
// does not wait for the client.
func refuse(conn net.Conn, r refusal) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = writeJSONFrame(conn, frameRefused, r)
	_ = conn.Close()
}

// peer is the client. Writing to it is bounded by stallTime and, once the request is
// cancelled, by one second.
type peer struct {
	conn net.Conn
	ctx  context.Context

	turn chan struct{} // holds a token while a frame is written, so frames do not mix
	mu   sync.Mutex    // keeps extend from undoing hurry, which must not wait for a frame
}

func (p *peer) write(kind byte, payload []byte) error {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.extend()
	return writeFrame(p.conn, kind, payload)
}

func (p *peer) extend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		_ = p.conn.SetWriteDeadline(time.Now().Add(stallTime)) // fails if conn is closed, and then the write fails, too
	}
}

func (p *peer) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.conn.SetWriteDeadline(time.Now().Add(time.Second))
}

// frameWriter writes frames of one kind.
type frameWriter struct {
	peer *peer
	kind byte
	// before is flushed first, so that earlier output arrives earlier.
	before *bufio.Writer
}

// Write sends p in as many frames as needed.
func (w *frameWriter) Write(p []byte) (n int, err error) {
	if w.before != nil {
		if err := w.before.Flush(); err != nil {
			return 0, err
		}
	}
	for n < len(p) {
		chunk := p[n:min(n+maxFrame, len(p))]
		if err := w.peer.write(w.kind, chunk); err != nil {
			return n, errors.Join(errAskerGone, err)
		}
		n += len(chunk)
	}
	return n, nil
}

// turnWriter is an output that takes turns with others: errors flush what was printed before.
type turnWriter struct {
	turn *sync.Mutex
	w    io.Writer
}

// Write implements io.Writer.
func (t *turnWriter) Write(p []byte) (int, error) {
	t.turn.Lock()
	defer t.turn.Unlock()
	return t.w.Write(p)
}

var errAskerGone = errors.New("control: the client is gone")
