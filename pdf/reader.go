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
	// places has an element for each child that there may be: the child, or nil if it has not
	// been started. Whoever has taken an element may use the child.
	places chan *child
	closed chan struct{}

	unreadable atomic.Int64
}

// New returns a reader. It starts no child before the first document.
func New(o Options) *Reader {
	r := &Reader{command: o.Command, limits: usual, places: make(chan *child, maxChildren), closed: make(chan struct{})}
	for range maxChildren {
		r.places <- nil
	}
	return r
}

var errClosed = errors.New("pdf: the reader is closed")

// Version returns the version of the reader, which is stored with what it has read.
func (r *Reader) Version() int { return Version }

// Read returns a document as HTML in UTF-8. An error of type Unreadable is the document's.
// Others say that no document can be read, or that ctx has ended.
func (r *Reader) Read(ctx context.Context, body []byte) (html []byte, err error) {
	if len(body) > r.limits.body {
		return nil, Unreadable(fmt.Sprintf("the document has %d bytes, and at most %d are read", len(body), r.limits.body))
	}
	c, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { r.places <- c }()
	if c == nil {
		if c, err = r.start(ctx); err != nil {
			return nil, fmt.Errorf("start a process that reads PDF documents: %w; correct this, or turn off the setting pdf", err)
		}
	}
	html, usable, err := c.read(ctx, body, r.limits)
	if !usable {
		c.kill()
		c = nil
	}
	if unreadable := Unreadable(""); errors.As(err, &unreadable) {
		r.unreadable.Add(1)
	}
	return html, err
}

// Unreadable returns how many documents could not be read.
func (r *Reader) Unreadable() int64 { return r.unreadable.Load() }

// take waits for a child, or a place for one. An idle child comes first.
func (r *Reader) take(ctx context.Context) (*child, error) {
	select {
	case <-r.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case c := <-r.places:
		if c != nil {
			return c, nil
		}
	}
	select { // another place may have a child
	case c := <-r.places:
		r.places <- nil
		return c, nil
	default:
		return nil, nil
	}
}

// Close ends the children, after the documents that they are reading.
func (r *Reader) Close() error {
	close(r.closed)
	var errs []error
	for range maxChildren {
		if c := <-r.places; c != nil {
			errs = append(errs, c.stop())
		}
	}
	return errors.Join(errs...)
}
