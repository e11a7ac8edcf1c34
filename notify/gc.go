package notify

import (
	"context"

	"github.com/webindexer/indexer/txn"
)

// scanPage reads notifications from the table and hands them to the queue. Between the two
// steps, only scanPage knows of a notification. Another run may handle it, and remove it;
// then neither the table nor the queue shows that scanPage still holds it. Only its
// acknowledgement prevents a second run, so none is collected in the meantime: scanPage holds
// scans shared, and PauseScans holds it exclusively.
func (p *Pipeline) scanPage(ctx context.Context, from string) (found int, next string, full bool, row string, err error) {
	p.scans.RLock()
	defer p.scans.RUnlock()
	notes, next, err := p.db.Notifications(ctx, from, scanChunk)
	if err != nil {
		return 0, "", false, "", err
	}
	full, row, err = p.found(ctx, notes)
	return len(notes), next, full, row, err
}

// PauseScans implements txn.Queue. A run of a row in the queue may need the
// acknowledgement.
//
// Notifications that a commit hands over do not pass through scanPage. Their sender is an open
// transaction until it has handed them over, and holds back the safe point, so no
// acknowledgement of its notifications is collected (txn/gcacks.go).
func (p *Pipeline) PauseScans(fn func(waiting func(row, observer string) bool) error) error {
	p.scans.Lock()
	defer p.scans.Unlock()
	return fn(p.queue.has)
}

// has reports whether a row is in the queue. It is not if the observer is not
// registered.
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

var _ txn.Queue = (*Pipeline)(nil)
