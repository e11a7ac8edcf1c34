package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/webindexer/indexer/txn"
)

// Pipeline runs the observers of a registry. It is started and stopped once.
type Pipeline struct {
	registry *Registry
	opts     Options
	queue    *queue
	db       *txn.DB // set by attach
	cursor   string  // the row at which the next scan continues
	meters   []meter
	dead     deadSet
	scans    sync.RWMutex // see scanPage
	shared   *shared      // nil in the only process of the table
	passive  bool         // no observer runs here (Attach)

	launch func(worker int) // starts one; set by Start, under the queue's mu
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	failed error // why the pipeline stopped by itself
}

// New makes a pipeline that does not run yet, so that its Handover can be given
// to the DB on which it will run.
func New(r *Registry, opts Options) *Pipeline {
	opts = opts.withDefaults()
	return &Pipeline{registry: r, opts: opts, queue: newQueue(r, opts.Capacity), meters: make([]meter, len(r.list))}
}

// Handover receives notifications right after the commit that sent them. It
// is the value for txn.Options.Handover.
func (p *Pipeline) Handover(notes []txn.Notification) {
	if p.passive {
		return
	}
	p.queue.add(p.ours(notes), false) // all observers are registered: the same registry named them
}

// Start finds the notifications that wait in the table, and starts the
// workers. They run until Stop, or until the store fails; the end of ctx does
// not stop them. After an error nothing runs, and calling Stop is optional.
func (p *Pipeline) Start(ctx context.Context, db *txn.DB) error {
	if err := p.attach(ctx, db); err != nil {
		return err
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.launchWorkers(ctx)
	if p.shared != nil {
		p.startShared(ctx)
	} else {
		p.work.Go(func() { p.rescan(ctx) })
	}
	p.work.Go(p.queue.runTimer)
	return nil
}

// attach connects the pipeline to the table.
func (p *Pipeline) attach(ctx context.Context, db *txn.DB) error {
	if p.db != nil || p.queue.isClosed() {
		return errors.New("notify: start: a pipeline runs once; make a new one")
	}
	p.db = db
	if err := p.loadDead(ctx); err != nil {
		return fmt.Errorf("notify: start: %w", err)
	}
	if db.Shared() {
		p.share(db)
		return nil
	}
	if err := p.scan(ctx); err != nil {
		return fmt.Errorf("notify: start: %w", err)
	}
	return nil
}

// share makes the pipeline one of several on the table.
func (p *Pipeline) share(db *txn.DB) {
	p.shared = &shared{locks: db.RowLocks(), leases: p.opts.Leases, admit: newAdmission()}
	if p.shared.leases == nil {
		p.shared.leases = noLeases{}
	}
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.queue.elsewhere = make([]bool, len(p.registry.list))
	for i := range p.queue.elsewhere {
		p.queue.elsewhere[i] = true // until the first scan (scanLeased)
	}
}

// Stop lets the current runs finish, starts no new ones, and waits for the workers.
// Pending work stays in the table. Callers that wait in Admit and Quiesce get ErrStopped.
// Stop returns the failure that had already stopped the pipeline, if any.
func (p *Pipeline) Stop() error {
	p.queue.close()
	p.work.Wait()
	if p.shared != nil {
		p.releaseAll()
	}
	if p.cancel != nil {
		p.cancel()
	}
	return p.Err()
}

// Err is the failure that stopped the pipeline, or nil.
func (p *Pipeline) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Fail stops the pipeline because of a failure, here or elsewhere in the process.
func (p *Pipeline) Fail(err error) {
	p.mu.Lock()
	if p.failed == nil {
		p.failed = err
	}
	p.mu.Unlock()
	p.queue.close()
}

// Ready returns the reason why no observer would run now, or nil: ErrStopped before Start
// and after Stop, the failure that stopped the pipeline, or ErrPaused.
func (p *Pipeline) Ready() error {
	p.queue.mu.Lock()
	launched, closed, wanted := p.launch != nil, p.queue.closed, p.queue.wanted
	p.queue.mu.Unlock()
	switch {
	case p.passive && !closed:
		return nil
	case closed || !launched:
		return p.whyStopped()
	case wanted == 0:
		return ErrPaused
	}
	return nil
}
