package badgerdb

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
)

// request is one Mutate, one part of an Apply, or one Commit, on its way to the
// committer.
//
// A caller whose context ends while its request waits in the queue withdraws it:
// caller and committer both try to move state away from queued, and one of them
// succeeds. If the caller does, the committer will pass over the request, and the
// caller returns the context's error: nothing happened and nothing will. If the
// committer does, the caller waits for the answer, whatever its context says: the
// group is being written, which takes milliseconds, and going away would only turn
// a known outcome into an unknown one.
//
// So a context never makes an outcome unknown here. The one way to store.Unknown
// is a failed write, after which the table takes no more writes (see committer).
type request struct {
	rows   []store.RowMutation
	commit bool // has a commit timestamp
	// alone, if not nil, replaces everything else: the committer calls it while no
	// group is under way.
	alone func() error

	state atomic.Int32
	done  chan struct{} // closed when the answer is there; nil if the caller writes

	plan plan // the committer's

	result   store.Result
	commitTS uint64
	err      error
}

const (
	queued int32 = iota
	taken
	withdrawn
)

// take is the committer's claim.
func (r *request) take() bool { return r.state.CompareAndSwap(queued, taken) }

// answer wakes the caller; nothing may touch the request afterwards.
func (r *request) answer(res store.Result, err error) {
	r.result, r.err = res, err
	if r.done != nil {
		close(r.done)
	}
}

// submit writes a request, or hands it to the committer's goroutine and waits for
// its answer.
func (db *DB) submit(ctx context.Context, r *request) error {
	others := db.callers.Add(1) > 1
	defer db.callers.Add(-1)
	if !others && db.committer.byCaller(r) {
		return r.err
	}
	r.done = make(chan struct{})
	select {
	case db.queue <- r:
	case <-ctx.Done():
		return notQueued(ctx)
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if r.state.CompareAndSwap(queued, withdrawn) {
		return notQueued(ctx)
	}
	<-r.done
	return r.err
}

func notQueued(ctx context.Context) error {
	return fmt.Errorf("%w: gave up while the write was queued: %w", store.ErrNotDone, ctx.Err())
}
