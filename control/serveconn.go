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

// Handler answers a request: it writes what is to be printed and returns the
// exit status. ctx ends when nobody wants the answer any more.
type Handler func(ctx context.Context, req Request, stdout, stderr io.Writer) (status int)

// serveConn answers the request of one connection and closes it. Whatever whoever
// asked does, nothing worse comes of it than that the answer goes nowhere.
func serveConn(ctx context.Context, conn net.Conn, h Handler) {
	req, err := readRequest(conn)
	if err != nil {
		refuse(conn, err.Error())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &peer{conn: conn, ctx: ctx, turn: make(chan struct{}, 1)}
	stop := context.AfterFunc(ctx, p.hurry)
	watching := make(chan struct{})
	go func() { // ends when the connection does, which serveConn sees to
		defer close(watching)
		defer cancel()
		_, _ = conn.Read(make([]byte, 1)) // nothing is said any more: this returns at the end
	}()
	alive := p.keepAlive(cancel)
	answer(ctx, p, req, h)
	alive()
	stop()
	_ = conn.Close() // nobody is left to tell
	<-watching
}

func answer(ctx context.Context, p *peer, req Request, h Handler) {
	stdout := bufio.NewWriterSize(&frameWriter{peer: p, kind: frameOutput}, maxFrame)
	stderr := &frameWriter{peer: p, kind: frameError, before: stdout}
	status := h(ctx, req, stdout, stderr)
	if err := stdout.Flush(); err != nil {
		return // whoever asked is gone
	}
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.extend()
	_ = writeJSONFrame(p.conn, frameExit, exit{Status: status}) // as above
}

// signOfLife is how often whoever asked hears that this process is alive.
const signOfLife = time.Second

// keepAlive says at once, and then again and again, that the request was taken and is
// being worked on: an answer that takes hours, or is quiet while it counts, must not
// look like a process that is stopped. What it returns ends that. Where nobody takes the
// signs any more the request is given up.
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

func readRequest(conn net.Conn) (Request, error) {
	var req Request
	if err := conn.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
		return req, err
	}
	kind, payload, err := readFrame(conn)
	if err != nil {
		return req, fmt.Errorf("the request cannot be read: %w", err)
	}
	if kind != frameRequest {
		return req, fmt.Errorf("frame of kind %q where a request was expected", kind)
	}
	if err := json.Unmarshal(payload, &req); err != nil {
		return req, fmt.Errorf("the request cannot be read: %w", err)
	}
	if req.Version != version {
		return req, fmt.Errorf("it speaks version %d, this request is version %d; use the same program", version, req.Version)
	}
	return req, conn.SetReadDeadline(time.Time{})
}

// refuse says why a request is not answered, and closes the connection. It does
// not wait for whoever asked.
func refuse(conn net.Conn, reason string) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = writeJSONFrame(conn, frameRefused, refusal{Reason: reason})
	_ = conn.Close()
}

// peer is whoever asked. Writing to it is bounded by stallTime and, once the
// request is cancelled, by a second.
type peer struct {
	conn net.Conn
	ctx  context.Context

	turn chan struct{} // holds a token while a frame is written: one at a time
	mu   sync.Mutex    // so that extend does not undo hurry, which must not wait for a frame
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
		_ = p.conn.SetWriteDeadline(time.Now().Add(stallTime)) // fails when closed, and then so does the write
	}
}

func (p *peer) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.conn.SetWriteDeadline(time.Now().Add(time.Second))
}

// frameWriter makes frames of what is written.
type frameWriter struct {
	peer *peer
	kind byte
	// before is flushed first, so that what was printed earlier arrives earlier.
	before *bufio.Writer
}

// Write sends p in as many frames as it takes.
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

var errAskerGone = errors.New("control: whoever asked is gone")
