package pdf

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
)

// Options of New.
type Options struct {
	// Command returns the command of a child, which calls Serve.
	Command func() (*exec.Cmd, error)
}

// Reader reads documents. It may be used concurrently.
type Reader struct {
	command func() (*exec.Cmd, error)
	limits  limits
	// There are maxChildren elements in idle and places, except those in use: children, and
	// places for children that have not been started.
	idle   chan *child
	places chan struct{}
	// turn has an element unless a caller is about to start a child. Other callers wait for a
	// child that becomes idle in the meantime: a start takes longer than most documents.
	turn   chan struct{}
	closed chan struct{}

	unreadable atomic.Int64
}

// New returns a reader. It starts no child before the first document.
func New(o Options) *Reader {
	r := &Reader{
		command: o.Command, limits: usual,
		idle: make(chan *child, maxChildren), places: make(chan struct{}, maxChildren), turn: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	for range maxChildren {
		r.places <- struct{}{}
	}
	r.turn <- struct{}{}
	return r
}

var errClosed = errors.New("pdf: the reader is closed")

// Version returns the version of the reader, which is stored with what it has read.
func (r *Reader) Version() int { return Version }

// Read returns a document as HTML in UTF-8. An error of type Unreadable is the document's.
// Others say that no document can be read, or that ctx has ended.
func (r *Reader) Read(ctx context.Context, body []byte) (html []byte, err error) {
	if len(body) > r.limits.body {
		r.unreadable.Add(1)
		return nil, Unreadable(fmt.Sprintf("it has %d bytes, and at most %d are read", len(body), r.limits.body))
	}
	c, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	html, usable, err := c.read(ctx, body, r.limits)
	if usable {
		r.idle <- c
	} else {
		c.kill()
		r.places <- struct{}{}
	}
	if _, ok := errors.AsType[Unreadable](err); ok {
		r.unreadable.Add(1)
	}
	return html, err
}

// Unreadable returns how many documents could not be read.
func (r *Reader) Unreadable() int64 { return r.unreadable.Load() }

// take waits for a child that is idle, or starts one.
func (r *Reader) take(ctx context.Context) (*child, error) {
	select {
	case c := <-r.idle:
		return c, nil
	default:
	}
	select {
	case c := <-r.idle:
		return c, nil
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
		return r.takeOrStart(ctx)
	case <-r.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// takeOrStart is take for the caller that has the turn.
func (r *Reader) takeOrStart(ctx context.Context) (*child, error) {
	select {
	case c := <-r.idle: // since the turn came
		return c, nil
	default:
	}
	select {
	case c := <-r.idle:
		return c, nil
	case <-r.places:
		c, err := r.start(ctx)
		if err != nil {
			r.places <- struct{}{}
			return nil, fmt.Errorf("start a process that reads PDF documents: %w; correct this, or turn off the setting pdf", err)
		}
		return c, nil
	case <-r.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends the children, after the documents that they are reading.
func (r *Reader) Close() error {
	close(r.closed)
	var errs []error
	for range maxChildren {
		select {
		case c := <-r.idle:
			errs = append(errs, c.stop())
		case <-r.places:
		}
	}
	return errors.Join(errs...)
}
