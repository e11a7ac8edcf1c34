package index

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Group commit. Requests wait in their callers until the writer goroutine takes
// them. It takes what is waiting, up to groupSize documents, and runs it as one
// SQLite transaction; while that runs, the next group gathers. Nobody is made to
// wait for company: alone, a request is committed at once; under load the groups
// grow by themselves. (A fixed delay of some milliseconds would add itself to every
// lone request and fill a group only when requests come faster than they are served,
// when it fills anyway.)
//
// A request is applied whole or not at all, since it is in one transaction. When
// a group fails, its requests are run again one by one, so that only the one
// that cannot be applied gets the error.

// groupSize is the number of documents at which a group takes no more requests.
// A single request may be larger.
const groupSize = 500

type request struct {
	ctx  context.Context
	size int // documents
	run  func(*tables) error
	done chan error // buffered: answered exactly once
}

// submit hands a request over and waits for its answer. After a cancelled
// context the request may still be applied.
func (w *Writer) submit(ctx context.Context, size int, run func(*tables) error) error {
	r := &request{ctx: ctx, size: size, run: run, done: make(chan error, 1)}
	select {
	case w.requests <- r:
	case <-w.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run is the writer goroutine. Close waits for it.
func (w *Writer) run() {
	pause := time.NewTimer(quiet) // what an earlier process left unmerged
	defer pause.Stop()
	for {
		select {
		case r := <-w.requests:
			w.commit(w.gather(r))
			pause.Reset(quiet)
		case <-pause.C:
			var more bool
			if more, w.mergeErr = w.tx.merge(); more {
				pause.Reset(0)
			}
		case <-w.closing:
			return // who has not been taken yet sees closing, too
		}
	}
}

// gather takes what else is waiting.
func (w *Writer) gather(first *request) []*request {
	group, size := []*request{first}, first.size
	for size < groupSize {
		select {
		case r := <-w.requests:
			group, size = append(group, r), size+r.size
		default:
			return group
		}
	}
	return group
}

func (w *Writer) commit(group []*request) {
	live := group[:0]
	for _, r := range group {
		if err := r.ctx.Err(); err != nil {
			r.done <- err
			continue
		}
		live = append(live, r)
	}
	if len(live) == 0 {
		return
	}
	err := w.transaction(live)
	if err != nil && len(live) > 1 {
		for _, r := range live {
			r.done <- w.transaction([]*request{r})
		}
		return
	}
	for _, r := range live {
		r.done <- err
	}
}

// transaction applies requests in one SQLite transaction.
func (w *Writer) transaction(group []*request) error {
	if err := w.tx.begin(); err != nil {
		return fmt.Errorf("index %s: begin: %w", w.dir, err)
	}
	for _, r := range group {
		if err := r.run(w.tx); err != nil {
			return fmt.Errorf("index %s: %w", w.dir, errors.Join(err, w.tx.rollback()))
		}
	}
	if err := w.tx.commit(); err != nil {
		return fmt.Errorf("index %s: commit: %w", w.dir, errors.Join(err, w.tx.rollback()))
	}
	w.applied.Store(w.tx.saved.Applied)
	if w.mark == nil {
		return nil
	}
	// It is committed. If the mark cannot be written, nobody is told so, and what was
	// applied is applied again, which changes nothing.
	return w.mark.put(mark{w.meta.id, w.tx.saved.Applied})
}
