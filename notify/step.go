package notify

import (
	"context"

	"github.com/webindexer/indexer/txn"
)

// Stepper runs a pipeline in the caller's goroutine, one run at a time, in an
// order that the caller chooses. It is for tests that need the same interleaving each time,
// or a different one for each seed. It ignores Debounce and the delays of retries.
type Stepper struct {
	p *Pipeline
}

// NewStepper attaches a pipeline that was not started to a DB.
func NewStepper(ctx context.Context, p *Pipeline, db *txn.DB) (*Stepper, error) {
	p.queue.eager = true
	return &Stepper{p}, p.attach(ctx, db)
}

// Step makes one run. pick chooses among n ready rows, which are in no
// particular order; nil takes the oldest, with its batch. Step reports false if
// there was no work, neither in memory nor in the table.
func (s *Stepper) Step(ctx context.Context, pick func(n int) int) (bool, error) {
	if err := s.p.Err(); err != nil {
		return false, err
	}
	batch := s.p.queue.pick(pick)
	if batch == nil {
		if err := s.p.scan(ctx); err != nil {
			return false, err
		}
		if batch = s.p.queue.pick(pick); batch == nil {
			return false, nil
		}
	}
	s.p.run(ctx, batch)
	if err := context.Cause(ctx); err != nil {
		return true, err
	}
	return true, s.p.Err()
}

// Drain steps until all work is done.
func (s *Stepper) Drain(ctx context.Context, pick func(n int) int) error {
	for {
		more, err := s.Step(ctx, pick)
		if err != nil || !more {
			return err
		}
	}
}

func (q *queue) pick(pick func(int) int) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	if pick == nil {
		return q.take()
	}
	var choice []*entry
	for _, h := range q.ready {
		for _, e := range h {
			if q.mayRun(e) {
				choice = append(choice, e)
			}
		}
	}
	if len(choice) == 0 {
		return nil
	}
	e := choice[pick(len(choice))]
	q.handOut(e.observer, e.pos)
	q.opens(e)
	return []*entry{e}
}
