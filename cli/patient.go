package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// An engine gives up on a call after half a minute without an answer, so that a worker, or a server,
// can do something else. A verification that has run for hours has nothing else to do, and would have
// to begin again. So a command that answers a question in its own process makes its calls again, for as
// long as a load does. It reads at one timestamp, and the process shows no sign of life meanwhile. If
// others find it dead when the store is back, its reads fail.

// patienceMost is how long a call is made again.
const patienceMost = 10 * time.Minute

// patience is in the context of calls that are made again.
type patience struct {
	stderr io.Writer

	mu   sync.Mutex
	away bool // people were told that there is no answer
}

type patienceKey struct{}

// patiently returns a context for calls that wait for the store and the oracle.
func patiently(ctx context.Context, stderr io.Writer) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patience{stderr: stderr})
}

// tell says that there is no answer, or that there is one again.
func (p *patience) tell(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	away := err != nil
	switch {
	case away && !p.away:
		_, _ = fmt.Fprintf(p.stderr, "waiting: %v; giving up in %v\n", err, patienceMost)
	case !away && p.away:
		_, _ = fmt.Fprintln(p.stderr, "the store answers again")
	}
	p.away = away
}

// retry makes a call, and makes it again while no server answers, if its context has patience.
func retry(ctx context.Context, call func() error) error {
	err := call()
	p, patient := ctx.Value(patienceKey{}).(*patience)
	if !patient {
		return err
	}
	for began := time.Now(); txn.Temporary(err) && time.Since(began) < patienceMost; err = call() {
		p.tell(err)
		if sleep.For(ctx, time.Second) != nil {
			return err
		}
	}
	if err == nil {
		p.tell(nil)
	}
	return err
}

// patientTable is a table for patient calls.
type patientTable struct{ store.Table }

// Read implements store.Reader.
func (t patientTable) Read(ctx context.Context, row []byte, sel ...store.Selector) (cells []store.Cell, err error) {
	err = retry(ctx, func() (err error) {
		cells, err = t.Table.Read(ctx, row, sel...)
		return err
	})
	return cells, err
}

// Scan implements store.Reader. It continues after the last row that fn has got.
func (t patientTable) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) (next []byte, err error) {
	var failed error // of fn
	var last []byte
	left := r.MaxCells
	err = retry(ctx, func() (err error) {
		if last != nil {
			r.Start = append(bytes.Clone(last), 0)
		}
		if r.MaxCells > 0 && left <= 0 {
			next = r.Start
			return nil
		}
		rest := r
		rest.MaxCells = left
		next, err = t.Table.Scan(ctx, rest, func(c store.Cell) error {
			last = append(last[:0], c.Row...)
			if r.MaxCells > 0 {
				left--
			}
			failed = fn(c)
			return failed
		})
		if failed != nil {
			return nil // it is the caller's, whatever it is
		}
		return err
	})
	return next, cmp.Or(failed, err)
}

// Apply implements store.Table.
func (t patientTable) Apply(ctx context.Context, rows []store.RowMutation) error {
	return retry(ctx, func() error { return t.Table.Apply(ctx, rows) })
}

// Mutate implements store.Table. If a mutation has guards and may have happened, it is not made again.
func (t patientTable) Mutate(ctx context.Context, m store.RowMutation) (res store.Result, err error) {
	guarded := m.Require != nil || len(m.Absent) > 0
	_ = retry(ctx, func() error { // err is the error of its last call
		if res, err = t.Table.Mutate(ctx, m); guarded && !errors.Is(err, store.ErrNotDone) {
			return nil
		}
		return err
	})
	return res, err
}

// patientTimestamps are those of an oracle for patient calls.
type patientTimestamps struct{ txn.Timestamps }

// Next implements txn.Timestamps.
func (t patientTimestamps) Next(ctx context.Context) (uint64, error) {
	return takePatiently(ctx, t.Timestamps.Next)
}

// Last implements txn.Timestamps.
func (t patientTimestamps) Last(ctx context.Context) (uint64, error) {
	return takePatiently(ctx, t.Timestamps.Last)
}

func takePatiently(ctx context.Context, take func(context.Context) (uint64, error)) (ts uint64, err error) {
	err = retry(ctx, func() (err error) {
		ts, err = take(ctx)
		return err
	})
	return ts, err
}
