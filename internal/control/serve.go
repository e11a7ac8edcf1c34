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
	// stallTime is how long a frame may wait until the client takes it. A client that is
	// suspended must not hold a snapshot for ever.
	stallTime = 10 * time.Minute
)

// Server answers the requests to a data directory.
type Server struct {
	socket   string
	made     os.FileInfo // identifies the socket that this server created
	listener *net.UnixListener
	handler  Handler

	slots   chan struct{} // one token per request in progress
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Serve starts to answer requests to a data directory, which this process must hold. The
// errors are ErrServed or those of the operating system.
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
		if err != nil { // such as too many open files: try again
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
			refuse(conn, refusal{Reason: "it is busy", Busy: true})
		}
	}
}

// Close accepts no more requests, removes the socket, and waits for requests in progress
// until ctx ends; then it cancels them. Closing again does nothing.
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

// Requests returns how many requests are in progress.
func (s *Server) Requests() int { return len(s.slots) }
