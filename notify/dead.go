package notify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"indexer/txn"
)

// bury writes the letter, and then removes the notification, up to the newest
// that the row failed for: a later change renews it, and is run. A crash in
// between leaves both, and the row is tried and buried again. The change is not
// acknowledged: a retry may run for it.
func (p *Pipeline) bury(ctx context.Context, o *Observer, e *entry, cause error) error {
	key := deadRow(o.Name, e.row)
	value, err := encodeLetter(Letter{Observer: o.Name, Row: e.row, Error: cause.Error(), Attempts: e.failures, Time: time.Now().UTC()})
	if err != nil {
		return err
	}
	p.dead.add(key) // first: the outcome of the commit may be unknown
	_, err = p.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(key, deadColumn, value)
		return nil
	})
	if err != nil {
		return fmt.Errorf("notify: write the dead letter of %q of %s: %w", e.row, o.Name, err)
	}
	e.covered = e.newest
	return p.db.Forget(ctx, txn.Notification{Cell: txn.Cell{Row: e.row, Column: o.Watches}, Observer: o.Name, TS: e.newest})
}

// revive removes the letters of rows that are about to be run again, in the
// transaction of the run: if it commits, they are answered.
func (p *Pipeline) revive(ctx context.Context, tx *txn.Txn, observer string, rows []string) error {
	for _, row := range rows {
		key := deadRow(observer, row)
		if !p.dead.has(key) {
			continue
		}
		letter, err := tx.Get(ctx, key, deadColumn)
		if err != nil {
			return err
		}
		if letter.Exists {
			tx.Delete(key, deadColumn)
		}
	}
	return nil
}

// Retry runs an observer again on a row that it gave up on, with as many attempts
// as a new row has. The letter goes when the run commits, and not before: nothing
// is lost if the process ends first. Retry returns at once; Quiesce waits for the
// run. Errors: ErrNoLetter; ErrStopped; of a queue that is full.
func (p *Pipeline) Retry(ctx context.Context, observer, row string) error {
	i, ok := p.registry.byName[observer]
	if !ok {
		return fmt.Errorf("notify: retry %q: there is no observer %q", row, observer)
	}
	if p.db == nil || p.queue.isClosed() {
		return p.whyStopped()
	}
	tx, err := p.db.Begin(ctx)
	if err != nil {
		return fmt.Errorf("notify: retry %q of %s: %w", row, observer, err)
	}
	defer tx.Rollback()
	if err := wantLetter(ctx, tx, observer, row); err != nil {
		return err
	}
	// A timestamp of now is newer than what the observer acknowledged: it runs.
	cell := txn.Cell{Row: row, Column: p.registry.list[i].Watches}
	_, full, _ := p.queue.add([]txn.Notification{{Cell: cell, Observer: observer, TS: tx.Start()}}, true)
	if full {
		return fmt.Errorf("notify: retry %q of %s: too many rows are waiting, try again later", row, observer)
	}
	return nil
}

// Drop removes a dead letter without running anything. The row is run again when
// it changes. It returns ErrNoLetter if there is none.
func (p *Pipeline) Drop(ctx context.Context, observer, row string) error {
	if p.db == nil {
		return ErrStopped
	}
	_, err := p.db.Run(ctx, func(tx *txn.Txn) error {
		if err := wantLetter(ctx, tx, observer, row); err != nil {
			return err
		}
		tx.Delete(deadRow(observer, row), deadColumn)
		return nil
	})
	if err != nil && !errors.Is(err, ErrNoLetter) {
		return fmt.Errorf("notify: drop the dead letter of %q of %s: %w", row, observer, err)
	}
	return err
}

func wantLetter(ctx context.Context, tx *txn.Txn, observer, row string) error {
	v, err := tx.Get(ctx, deadRow(observer, row), deadColumn)
	if err == nil && !v.Exists {
		err = fmt.Errorf("%w: %q of %s", ErrNoLetter, row, observer)
	}
	return err
}

// deadSet remembers which rows may have a letter, so that a run that succeeds
// later removes it without every run having to look. It errs on the side of
// "may": it holds hashes, forgets nothing, and beyond its bound says yes to all.
type deadSet struct {
	mu   sync.Mutex
	seed maphash.Seed
	rows map[uint64]struct{}
	all  bool
}

// deadSetBound is about 10 MB of hashes.
const deadSetBound = 250_000

func (s *deadSet) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all || len(s.rows) == 0 {
		return s.all
	}
	_, ok := s.rows[maphash.String(s.seed, key)]
	return ok
}

func (s *deadSet) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.seed, s.rows = maphash.MakeSeed(), make(map[uint64]struct{})
	}
	s.rows[maphash.String(s.seed, key)] = struct{}{}
	s.all = s.all || len(s.rows) > deadSetBound
}

// loadDead reads which rows have letters.
func (p *Pipeline) loadDead(ctx context.Context) error {
	tx, err := p.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = tx.Scan(ctx, DeadGroup, "", "", func(key string, _ []txn.Version) error {
		p.dead.add(key)
		if p.dead.all {
			return txn.ErrStop
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for dead letters: %w", err)
	}
	return nil
}
