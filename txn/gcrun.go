package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
)

// Collector collects garbage beside transactions, in a goroutine of its own, from
// NewCollector to Stop.
//
// It works through the queue of written cells. It sweeps the whole table only
// if the queue is incomplete: it overflowed, or an earlier process did not
// finish it. A mark in the table says so: a collector writes it when it starts, and removes
// it when it stops with an empty queue.
type Collector struct {
	db     *DB
	opts   CollectOptions
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	total Collected
	swept int // completed sweeps

	// The fields of the goroutine.
	unswept   bool       // a sweep is due, or under way
	again     bool       // and another one after it: cells did not fit in the meantime
	place     sweepPlace // of the current sweep
	begun     time.Time  // when it began
	sweepRest time.Time  // no sweep before
}

var unsweptColumn = []byte("unswept")

const (
	// gcBatch is how many cells are collected with one write.
	gcBatch = 256
	// gcSteps bounds the batches between two checks of the safe point.
	gcSteps = 64
	// stopWithin bounds how long a stopping collector goes on collecting.
	stopWithin = 2 * time.Second
)

// NewCollector starts a collector. A DB has at most one at a time.
func (db *DB) NewCollector(ctx context.Context, opts CollectOptions) (*Collector, error) {
	if opts.Share <= 0 || opts.Share > 1 {
		opts.Share = 0.05
	}
	if opts.Every <= 0 {
		opts.Every = time.Second
	}
	if db.gc.queue.on.Swap(true) {
		return nil, errors.New("txn: a collector is already running; stop it before you start another")
	}
	c := &Collector{db: db, opts: opts}
	if err := c.mark(ctx); err != nil {
		db.gc.queue.on.Store(false)
		return nil, err
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.work.Go(func() { c.run(ctx) })
	return c, nil
}

// mark finds out whether the last collector left garbage, and writes the mark.
func (c *Collector) mark(ctx context.Context) error {
	cells, err := c.db.table.Read(ctx, gcRow, store.Selector{Group: metaGroup, Column: unsweptColumn})
	if err != nil {
		return fmt.Errorf("txn: start to collect garbage: %w", err)
	}
	if len(cells) > 0 {
		c.unswept = true
		return nil
	}
	return c.setMark(ctx, store.Put)
}

func (c *Collector) setMark(ctx context.Context, op store.Op) error {
	m := store.Mutation{Op: op, Group: metaGroup, Column: unsweptColumn, TS: 1}
	if err := applyRow(ctx, c.db.table, gcRow, m); err != nil {
		return fmt.Errorf("txn: mark the table as not swept: %w", err)
	}
	return nil
}

// Total is the sum of everything collected so far, with the newest safe point.
func (c *Collector) Total() Collected {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Stop ends the collector. It completes the current batch, and collects ready
// cells for at most two seconds. The next collector finds the rest.
func (c *Collector) Stop(ctx context.Context) error {
	c.cancel()
	c.work.Wait()
	defer c.db.gc.queue.on.Store(false) // until then step requeues cells that have later garbage
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	err := c.step(ctx, nil)
	if err == nil && c.db.gc.queue.size() == 0 && !c.unswept && !c.db.gc.queue.takeOverflow() {
		err = c.setMark(ctx, store.Delete)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, errLocksHeld) {
		return nil
	}
	return err
}

func (c *Collector) run(ctx context.Context) {
	for sleep.For(ctx, c.opts.Every) == nil {
		err := c.step(ctx, c.rest)
		if c.db.gc.queue.takeOverflow() {
			c.unswept, c.again = true, true
		}
		if err == nil && c.unswept {
			err = c.sweepSome(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, errLocksHeld) && c.opts.Failed != nil {
			c.opts.Failed(fmt.Errorf("txn: collect garbage: %w", err))
		}
	}
}

// rest sleeps in proportion to work. A collector that has fallen behind works four times
// as much.
func (c *Collector) rest(ctx context.Context, took time.Duration) error {
	share := c.opts.Share
	if c.db.gc.queue.size() > gcQueueCells/2 {
		share = min(4*share, 1)
	}
	return sleep.For(ctx, time.Duration(float64(took)*(1-share)/share))
}

// step collects the cells of the queue that the safe point has passed. Other collections
// may run between batches: garbage at this safe point stays garbage.
func (c *Collector) step(ctx context.Context, rest pause) error {
	if c.db.gc.queue.size() == 0 {
		return nil
	}
	began := time.Now()
	got, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { c.add(got) }()
	for range gcSteps {
		if c.opts.batch != nil {
			c.opts.batch()
		}
		entries := c.db.gc.queue.take(got.SafePoint, gcBatch)
		if len(entries) == 0 {
			return nil
		}
		if err := c.collect(ctx, entries, &got); err != nil {
			c.unswept, c.again = true, true // they are no longer in the queue
			return err
		}
		if rest != nil {
			if err := rest(ctx, time.Since(began)); err != nil {
				return err
			}
			began = time.Now()
		}
	}
	return nil
}

func (c *Collector) prepare(ctx context.Context) (Collected, error) {
	c.db.gc.pass.Lock()
	defer c.db.gc.pass.Unlock()
	return c.db.prepare(ctx)
}

// collect collects some cells, and requeues those that have later records.
func (c *Collector) collect(ctx context.Context, entries []*gcEntry, got *Collected) error {
	var (
		rows []store.RowMutation
		more []Cell
		old  []*gcEntry
	)
	for _, e := range entries {
		if !e.look {
			row, later := e.removals(got.SafePoint)
			if len(row.Mutations) > 0 {
				rows = append(rows, row)
			}
			got.Versions += len(row.Mutations)
			if e.old = later; len(later) > 0 {
				old = append(old, e)
			}
			continue
		}
		dead, later, err := c.db.collectCell(ctx, e.cell, got)
		if err != nil {
			return err
		}
		rows = append(rows, dead...)
		if later {
			more = append(more, e.cell)
		}
	}
	if err := c.db.apply(ctx, rows); err != nil {
		return err
	}
	for _, cell := range more {
		c.db.gc.queue.add(cell, got.SafePoint+1)
	}
	for _, e := range old {
		for _, v := range e.old {
			c.db.gc.queue.addOld(e.cell, v)
		}
	}
	return nil
}

func (c *Collector) add(got Collected) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.total
	t.SafePoint = got.SafePoint
	t.Cells += got.Cells
	t.Locks += got.Locks
	t.Versions += got.Versions
	t.Deletions += got.Deletions
	t.Rollbacks += got.Rollbacks
	t.LockOnly += got.LockOnly
	t.Reads += got.Reads
	t.Acks += got.Acks
}

// sweepSome sweeps a part of the table in the time that a collector would otherwise
// sleep, because the queue must not wait for the whole sweep. The collector pauses after
// each complete sweep: with a long history the queue is always full, and each sweep
// would find the same cells.
func (c *Collector) sweepSome(ctx context.Context) error {
	if time.Now().Before(c.sweepRest) {
		return nil
	}
	began := time.Now()
	got, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { c.add(got) }()
	if c.place == (sweepPlace{}) {
		c.again, c.begun = false, began
	}
	for next := &c.place; time.Since(began) < c.opts.Every; {
		page := time.Now()
		if err := c.db.sweepPage(ctx, next, &got, c.opts.Queue); err != nil {
			return err
		}
		if *next == (sweepPlace{}) {
			c.unswept = c.again
			c.sweepRest = time.Now().Add(max(time.Since(c.begun), c.db.opts.History/4))
			c.mu.Lock()
			c.swept++
			c.mu.Unlock()
			return nil
		}
		if err := c.rest(ctx, time.Since(page)); err != nil {
			return err
		}
	}
	return nil
}
