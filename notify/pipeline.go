package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"indexer/store"
	"indexer/txn"
)

// Pipeline runs the observers of a registry.
type Pipeline struct {
	registry *Registry
	opts     Options
	queue    *queue
	db       *txn.DB
	meters   []meter
	dead     deadSet

	cancel context.CancelFunc
	work   sync.WaitGroup

	failMu sync.Mutex
	failed error // why the pipeline stopped by itself
}

// New makes a pipeline that runs nothing yet, so that its Handover can be given
// to the DB it will run on.
func New(r *Registry, opts Options) *Pipeline {
	opts = opts.withDefaults()
	return &Pipeline{registry: r, opts: opts, queue: newQueue(r, opts.Capacity), meters: make([]meter, len(r.list))}
}

// Handover is told of notifications right after the commit that sent them. It
// is what txn.Options.Handover wants.
func (p *Pipeline) Handover(notes []txn.Notification) {
	p.queue.add(notes) // all observers are registered: the same registry named them
}

// Start finds the notifications that are waiting in the table, and starts the
// workers. They run until Stop, or until the store fails.
func (p *Pipeline) Start(ctx context.Context, db *txn.DB) error {
	if err := p.attach(ctx, db); err != nil {
		return err
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for range p.opts.Workers {
		p.work.Go(func() { p.worker(ctx) })
	}
	p.work.Go(func() { p.rescan(ctx) })
	return nil
}

// attach connects the pipeline to the table.
func (p *Pipeline) attach(ctx context.Context, db *txn.DB) error {
	p.db = db
	if err := p.loadDead(ctx); err != nil {
		return err
	}
	return p.scan(ctx)
}

// Stop lets the runs that are under way end, starts no others, and waits. What
// is left to do stays in the table. It returns why the pipeline had stopped by
// itself, if it had.
func (p *Pipeline) Stop() error {
	p.queue.close()
	p.work.Wait()
	if p.cancel != nil {
		p.cancel()
	}
	return p.Err()
}

// Err is the failure of the store that stopped the pipeline, or nil.
func (p *Pipeline) Err() error {
	p.failMu.Lock()
	defer p.failMu.Unlock()
	return p.failed
}

// fail stops the pipeline: the store cannot be worked with.
func (p *Pipeline) fail(err error) {
	p.failMu.Lock()
	if p.failed == nil {
		p.failed = err
	}
	p.failMu.Unlock()
	p.queue.close()
}

func (p *Pipeline) worker(ctx context.Context) {
	for {
		batch := p.queue.next()
		if batch == nil {
			return
		}
		p.run(ctx, batch)
	}
}

// fatal tells errors that no other row and no retry would escape.
func fatal(err error) bool {
	return errors.Is(err, store.ErrClosed) || errors.Is(err, txn.ErrClosed) ||
		errors.Is(err, store.ErrNoSpace) || errors.Is(err, store.ErrCorrupt)
}

// rescan looks through the table now and then: after the queue overflowed, as
// soon as there is room; otherwise as a slow net under everything else.
func (p *Pipeline) rescan(ctx context.Context) {
	stop := context.AfterFunc(ctx, p.queue.changed.Broadcast)
	defer stop()
	for {
		if !p.queue.waitRoom(p.opts.Rescan) {
			return
		}
		if err := p.scan(ctx); err != nil {
			p.fail(fmt.Errorf("notify: look for notifications: %w", err))
			return
		}
	}
}

// waitRoom waits until an overflowed queue is half empty, or for the time
// given. It returns false once the queue is closed.
func (q *queue) waitRoom(d time.Duration) bool {
	expired := false
	timer := time.AfterFunc(d, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		expired = true
		q.changed.Broadcast()
	})
	defer timer.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && !expired && (!q.overflow || len(q.entries) > q.capacity/2) {
		q.changed.Wait()
	}
	return !q.closed
}
