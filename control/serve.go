package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// maxRequests is how many requests are served at a time; more are refused.
	maxRequests = 8
	// requestTime is how long a request may take to arrive.
	requestTime = 10 * time.Second
	// stallTime is how long a frame may wait for whoever asked to take it: it may
	// have been suspended, and must not hold a snapshot for ever.
	stallTime = 10 * time.Minute
)

// Server answers for a data directory.
type Server struct {
	socket   string
	made     os.FileInfo // the socket it made, to tell it from another's
	listener *net.UnixListener
	handler  Handler

	slots   chan struct{} // a token per request under way
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Serve begins to answer for a data directory, which this process must hold,
// with a handler. Errors: ErrServed, or the operating system's.
func Serve(dir string, h Handler) (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	if conn, err := dial(ctx, dir); err == nil {
		return nil, errors.Join(ErrServed, conn.Close())
	}
	l, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("control: listen in %s: %w", dir, err)
	}
	s := &Server{
		socket: filepath.Join(dir, socketName), listener: l, handler: h,
		slots: make(chan struct{}, maxRequests),
	}
	if s.made, err = os.Lstat(s.socket); err != nil {
		return nil, errors.Join(fmt.Errorf("control: %w", err), l.Close())
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// accept takes connections until the listener is closed.
func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors: the next one may fare better
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-s.ctx.Done():
				return
			}
		}
		select {
		case s.slots <- struct{}{}:
			s.running.Go(func() {
				defer func() { <-s.slots }()
				serveConn(s.ctx, conn, s.handler)
			})
		default:
			refuse(conn, fmt.Sprintf("it answers %d requests already; ask again later", maxRequests))
		}
	}
}

// Close takes no more requests and waits for those under way until ctx ends,
// then cancels them. It removes the socket. Closing again does nothing.
func (s *Server) Close(ctx context.Context) error {
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	if now, statErr := os.Lstat(s.socket); statErr == nil && os.SameFile(now, s.made) {
		err = errors.Join(err, os.Remove(s.socket))
	}
	stop := context.AfterFunc(ctx, s.cancel)
	s.running.Wait()
	stop()
	s.cancel()
	return err
}

// Requests is how many requests are under way.
func (s *Server) Requests() int { return len(s.slots) }
