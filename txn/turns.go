package txn

import (
	"context"
	"sync"
	"time"
)

// turns let transactions that lost a conflict at a cell go one after the other, in
// the order they came, when they try again.
//
// Backing off at random alone is not fair: on a hot cell whoever has just committed
// tries again at once, and wins against all who sleep; measured with 64 goroutines
// on one row, one made 11,111 commits while another made one, in three seconds. A
// transaction that holds the turn of the cell still has to compete with those that
// have not met a conflict yet. Each of them can get in its way once, then it queues.
//
// Nothing depends on turns but fairness and speed: a wait for one is bounded
// (turnPatience), after which the transaction goes on without. So nothing can lock
// up, whatever the transaction's function does, other transactions included. A
// transaction holds one turn at a time, and not while it waits for another.
type turns struct {
	mu      sync.Mutex
	waiting map[Cell][]chan struct{} // in a key's list: who waits while somebody has the turn
}

const turnPatience = time.Second

// take waits for the turn of a cell. It reports false if that took too long, or
// the context ended.
func (t *turns) take(ctx context.Context, c Cell) bool {
	t.mu.Lock()
	list, taken := t.waiting[c]
	if !taken {
		if t.waiting == nil {
			t.waiting = make(map[Cell][]chan struct{})
		}
		t.waiting[c] = nil
		t.mu.Unlock()
		return true
	}
	mine := make(chan struct{})
	t.waiting[c] = append(list, mine)
	t.mu.Unlock()
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	select {
	case <-mine:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return t.withdraw(c, mine)
}

// withdraw leaves the queue; it reports true if the turn came at the last moment.
func (t *turns) withdraw(c Cell, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, w := range t.waiting[c] {
		if w == mine {
			t.waiting[c] = append(t.waiting[c][:i:i], t.waiting[c][i+1:]...)
			return false
		}
	}
	return true
}

// pass gives the turn to the next.
func (t *turns) pass(c Cell) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.waiting[c]
	if len(list) == 0 {
		delete(t.waiting, c)
		return
	}
	t.waiting[c] = list[1:]
	close(list[0])
}

// turn is what one transaction holds.
type turn struct {
	of   *turns
	cell Cell
	held bool
}

// at makes the turn that of a cell. It reports false if it was so before, or could
// not be had: then the caller has to wait by itself.
func (t *turn) at(ctx context.Context, c Cell) bool {
	if t.held && t.cell == c {
		return false
	}
	t.end()
	t.cell, t.held = c, t.of.take(ctx, c)
	return t.held
}

// end gives up the turn, if one is held.
func (t *turn) end() {
	if t.held {
		t.held = false
		t.of.pass(t.cell)
	}
}
