package index

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Group commit. Callers wait until the writer goroutine takes their requests. It takes all
// waiting requests, up to groupSize documents, and runs them as one SQLite transaction;
// meanwhile the next group gathers. No request waits for others: a single request is
// committed at once, and under load groups grow by themselves. (A fixed delay of some
// milliseconds would slow down every lone request, and would fill a group only if requests
// arrive faster than they are served, when groups fill anyway.)
//
// A request is applied completely or not at all, since it is in one transaction. If a group
// fails, its requests are run again one by one, so that only the request that cannot be
// applied gets the error.

// A group with groupSize documents or more takes no more requests. A single request may
// be larger.
const groupSize = 500

type request struct {
	ctx  context.Context
	size int // documents
	run  func(*tables) error
	done chan error // buffered: answered exactly once
}

// submit hands over a request and waits for its answer. If the context is cancelled, the
// request may still be applied.
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
	pause := time.NewTimer(quiet) // merge what an earlier process left
	defer pause.Stop()
	// Read the words before the first change arrives, so that it need not wait. If that fails, the
	// first change with a new word tries again, and gets the error.
	_ = w.tx.beginWords()
	for {
		select {
		case r := <-w.requests:
			w.commit(w.gather(r))
			_ = w.catchUpWords() // the next change that has a new word gets the error
			pause.Reset(quiet)
		case <-pause.C:
			_ = w.catchUpWords()
			if w.merge() {
				pause.Reset(0)
			}
		case <-w.closing:
			return // waiting requests also see closing
		}
	}
}

// merge does a part of the merging, and reports whether there is more. A full disk only
// postpones merging: nothing is lost, no query fails, and the next change that must be
// written reports the full disk. Otherwise a load whose last change fills the disk would end
// with a merge error, although it had written everything.
func (w *Writer) merge() (more bool) {
	more, err := w.tx.merge()
	if w.mergeErr = nil; err != nil && !IsFull(err) {
		w.mergeErr = explain(w.dir, w.path, "merge", err)
	}
	return more
}

// gather takes the other waiting requests.
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
		return fmt.Errorf("index %s: begin: %w", w.dir, openError(w.path, err))
	}
	for _, r := range group {
		if err := r.run(w.tx); err != nil {
			return fmt.Errorf("index %s: %w", w.dir, errors.Join(openError(w.path, err), w.tx.rollback()))
		}
	}
	if err := w.tx.commit(); err != nil {
		return fmt.Errorf("index %s: commit: %w", w.dir, errors.Join(err, w.tx.rollback()))
	}
	state := w.tx.saved
	w.state.Store(&state)
	if w.mark == nil {
		return nil
	}
	// The transaction is committed. If the mark cannot be written, the callers get an
	// error, and apply the same changes again, which changes nothing.
	return w.mark.put(mark{w.meta.id, w.tx.saved.Applied})
}
