package notify

import (
	"context"

	"indexer/txn"
)

// look reads notifications from the table and hands them to the queue. Between the
// two, a notification is known to nobody but us: another run may answer it, and
// remove it, and then nothing in the table or the queue says that somebody still
// has it in hand. Its acknowledgement does, so none is collected meanwhile: look
// holds scans shared, Settled holds it alone.
func (p *Pipeline) look(ctx context.Context, from string) (found int, next string, full bool, row string, err error) {
	p.scans.RLock()
	defer p.scans.RUnlock()
	notes, next, err := p.db.Notifications(ctx, from, scanChunk)
	if err != nil {
		return 0, "", false, "", err
	}
	full, row, err = p.found(ctx, notes)
	return len(notes), next, full, row, err
}

// Settled implements txn.Answers: fn is called while nobody takes notifications out
// of the table to run them. busy reports whether the queue has the row, waiting or
// running, for the observer: a run of it may want to know what was acknowledged.
//
// What is handed over by a commit does not pass through here. Its sender is an open
// transaction until it has handed over, and holds back the safe point: no
// acknowledgement of what it sent is collected (txn/gcacks.go).
func (p *Pipeline) Settled(fn func(busy func(row, observer string) bool) error) error {
	p.scans.Lock()
	defer p.scans.Unlock()
	return fn(p.queue.has)
}

// has reports whether a row is in the queue. Those of an observer that nobody
// registered are not.
func (q *queue) has(row, observer string) bool {
	i, ok := q.registry.byName[observer]
	if !ok {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok = q.entries[key{i, row}]
	return ok
}

var _ txn.Answers = (*Pipeline)(nil)
