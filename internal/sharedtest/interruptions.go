package sharedtest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
)

// Interruptions stops processes at random calls of their tables, and loses answers and delays
// writes. Each of the first three fields is the mean number of calls between two such events.
// Use it in a synctest bubble, because it sleeps.
type Interruptions struct {
	Stop int // calls of any kind
	Late int // calls of Mutate: they fail, and take effect up to 12 seconds later
	Lost int // calls of Mutate: they take effect, and fail

	MaxStop int // how long a process is stopped at most, in seconds
	Random  *rand.Rand

	mu    sync.Mutex // protects Random and stops
	stops int
	late  sync.WaitGroup // writes that will take effect
}

// IntN returns a random number in [0, n).
func (i *Interruptions) IntN(n int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.Random.IntN(n)
}

// Wait waits until all late writes have taken effect.
func (i *Interruptions) Wait() { i.late.Wait() }

// Stops returns how many times a process was stopped.
func (i *Interruptions) Stops() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stops
}

// Wrap returns the table as the process uses it.
func (i *Interruptions) Wrap(table store.Table, p *Process) store.Table {
	return &interruptedTable{table, i, p}
}

// interruptedTable is the table of a process that is stopped now and then.
type interruptedTable struct {
	store.Table
	*Interruptions
	process *Process
}

// pass takes a moment, or stops the process for so long that others find it dead.
func (t *interruptedTable) pass() {
	if t.IntN(t.Stop) == 0 {
		t.process.Die()
		t.mu.Lock()
		t.stops++
		t.mu.Unlock()
		time.Sleep(time.Duration(1+t.IntN(t.MaxStop)) * time.Second)
	}
	time.Sleep(time.Duration(t.IntN(10)) * time.Millisecond)
}

func (t *interruptedTable) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	t.pass()
	cells, err := t.Table.Read(ctx, row, sel...)
	t.pass()
	return cells, err
}

func (t *interruptedTable) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	t.pass()
	next, err := t.Table.Scan(ctx, r, fn)
	t.pass()
	return next, err
}

func (t *interruptedTable) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	t.pass()
	if t.IntN(t.Late) == 0 {
		wait := time.Duration(t.IntN(12000)) * time.Millisecond
		t.late.Go(func() {
			time.Sleep(wait)
			_, _ = t.Table.Mutate(context.Background(), m)
		})
		return store.Result{}, store.ErrUnavailable
	}
	res, err := t.Table.Mutate(context.WithoutCancel(ctx), m)
	t.pass()
	if t.IntN(t.Lost) == 0 {
		return store.Result{}, store.ErrUnavailable
	}
	return res, err
}

// Apply does not stop the process before the call: between its last look at its token and the
// writes of its other cells, a process that is stopped can still do harm (txn/commit.go, finish).
func (t *interruptedTable) Apply(ctx context.Context, rows []store.RowMutation) error {
	err := t.Table.Apply(context.WithoutCancel(ctx), rows)
	t.pass()
	return err
}
