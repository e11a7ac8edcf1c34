package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/txn"
)

// scanChunk is the number of notifications that are read from the table at a time.
const scanChunk = 1000

// scan hands the notifications in the table to the queue: all of them, or until the
// queue is full. It continues where the last scan had to stop, and wraps around:
// otherwise rows at the end of the table would wait for ever behind those at its
// beginning. Only one goroutine calls it at a time.
//
// It first resets the overflow mark. A notification that does not fit into the queue sets
// the mark again, in this scan or beside it, which causes the next scan.
func (p *Pipeline) scan(ctx context.Context) error {
	p.queue.clearOverflow()
	first := p.cursor
	around := first == ""
	for from := first; !p.queue.isClosed(); {
		_, next, full, row, err := p.scanPage(ctx, from)
		if err != nil {
			return err
		}
		if full {
			p.cursor = row
			return nil
		}
		from = next
		if from == "" {
			if around {
				break
			}
			around = true
		} else if around && first != "" && from >= first {
			break
		}
	}
	p.cursor = ""
	return nil
}

// found hands over notifications that were read from the table, and removes
// those of observers that no longer exist. It reports the first row that did not
// fit.
func (p *Pipeline) found(ctx context.Context, notes []txn.Notification) (full bool, row string, err error) {
	unknown, full, row := p.queue.add(notes, true)
	for _, n := range unknown {
		if err := p.retire(ctx, n); err != nil {
			return full, row, err
		}
	}
	return full, row, nil
}

// retire removes a notification of an observer that no longer exists. If another
// one replaces it, that one is notified first, so that a crash in between leaves both.
func (p *Pipeline) retire(ctx context.Context, n txn.Notification) error {
	column, replaced := p.registry.replaced[n.Observer]
	if replaced {
		_, err := p.db.Run(ctx, func(tx *txn.Txn) error {
			tx.Notify(n.Cell.Row, column)
			return nil
		})
		if err != nil {
			return fmt.Errorf("notify: move the notification of %q from observer %s to its replacement: %w", n.Cell.Row, n.Observer, err)
		}
	}
	if err := p.db.Forget(ctx, n); err != nil {
		return err
	}
	if !replaced && p.opts.Events.Orphaned != nil {
		p.opts.Events.Orphaned(n.Observer, n.Cell.Row)
	}
	return nil
}

func (q *queue) clearOverflow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.overflow = false
}

// rescan scans the table: after an overflow of the queue, as soon as
// there is room; otherwise from time to time, as a safety net. It pauses for at least
// as long as the last scan took.
func (p *Pipeline) rescan(ctx context.Context) {
	var took time.Duration
	for {
		if !p.queue.sleep(took) || !p.queue.waitRoom(p.opts.Rescan) {
			return
		}
		began := time.Now()
		if err := p.scan(ctx); err != nil {
			p.Fail(fmt.Errorf("notify: look for notifications: %w", err))
			return
		}
		took = time.Since(began)
	}
}

// sleep waits; it returns false once the queue is closed.
func (q *queue) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.stopped:
	}
	return !q.isClosed()
}
