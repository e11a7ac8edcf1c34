package faulty

import (
	"context"
	"fmt"
	"sync"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
)

// Probe sees every operation, and decides its outcome.
type Probe struct {
	plan Plan

	mu    sync.Mutex
	count int
	met   bool
	late  func() // waits for operation number due
	due   int
}

// Operations is how many operations were counted so far.
func (p *Probe) Operations() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// Met reports whether the fault has occurred.
func (p *Probe) Met() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.met
}

// next counts an operation and returns its fault, with the error that the caller gets. What
// was held back until this operation happens first.
func (p *Probe) next(k Kind) (Fault, error) {
	if !p.plan.counts(k) {
		return None, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if p.count >= p.due {
		p.catchUp()
	}
	if !p.plan.hits(p.count) || p.plan.Fault == Full && k&Reads != 0 {
		return None, nil
	}
	p.met = true
	err := fmt.Errorf("%w: operation %d: %s", ErrInjected, p.count, p.plan.Fault)
	if p.plan.Fault == Full {
		err = fmt.Errorf("%w: %w: %w", store.ErrNotDone, store.ErrNoSpace, err)
	}
	return p.plan.Fault, err
}

// hold keeps an operation for later. If another one is already kept, that one happens now.
func (p *Probe) hold(op func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.catchUp()
	p.late = op
	p.due = p.count + max(p.plan.After, 1)
}

// flush lets what was held back happen.
func (p *Probe) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.catchUp()
}

// catchUp is flush for a caller that holds mu.
func (p *Probe) catchUp() {
	if p.late != nil {
		p.late()
		p.late = nil
	}
}

// begin counts an operation and waits if it is to be delayed. The operation runs as usual if
// err is nil.
func (p *Probe) begin(ctx context.Context, k Kind) (fault Fault, err error) {
	if fault, err = p.next(k); fault == Delay {
		err = sleep.For(ctx, p.plan.Wait)
	}
	return fault, err
}

// read runs a reading operation with what is planned for it.
func (p *Probe) read(ctx context.Context, k Kind, op func() error) error {
	if _, err := p.begin(ctx, k); err != nil {
		return err
	}
	return op()
}

// write runs a writing operation with what is planned for it. later must not use
// anything that belongs to the caller; its result is ignored.
func (p *Probe) write(ctx context.Context, k Kind, op func() error, later func()) error {
	fault, injected := p.begin(ctx, k)
	if injected == nil {
		return op()
	}
	switch fault {
	case Lost:
		if err := op(); err != nil {
			return err
		}
	case Late:
		p.hold(later)
	}
	return injected
}
