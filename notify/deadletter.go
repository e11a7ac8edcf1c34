package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webindexer/indexer/txn"
)

// DeadGroup is the locality group of the dead letters. An application that uses
// this package opens its table with it.
const DeadGroup = "dead"

// deadColumn holds a dead letter; deadRow is its row.
var deadColumn = txn.Column{Group: DeadGroup, Name: "letter"}

// DeadLetter is a row on which an observer gave up.
type DeadLetter struct {
	Observer string    `json:"observer"`
	Row      string    `json:"row"`
	Error    string    `json:"error"`    // of the last attempt; the first 4 KiB
	Attempts int       `json:"attempts"` // that failed
	Time     time.Time `json:"time"`     // of giving up
}

// storedDeadLetter keeps the row as bytes: a JSON string would change rows that are not
// UTF-8.
type storedDeadLetter struct {
	Observer string    `json:"observer"`
	Row      []byte    `json:"row"`
	Error    string    `json:"error"`
	Attempts int       `json:"attempts"`
	Time     time.Time `json:"time"`
}

const (
	maxDeadLetterError = 4 << 10
	// maxPlainRow bounds the row in a dead letter's key. The key may be no longer than
	// the store's keys; otherwise the failing row could never be set aside. In a longer
	// row, a hash replaces the end of the row.
	maxPlainRow = 1 << 10
)

// deadRow is the row of a dead letter: the observer's name, a zero byte, the row.
func deadRow(observer, row string) string {
	if len(row) > maxPlainRow {
		sum := sha256.Sum256([]byte(row))
		row = row[:maxPlainRow] + hex.EncodeToString(sum[:])
	}
	return observer + "\x00" + row
}

func encodeDeadLetter(l DeadLetter) ([]byte, error) {
	l.Error = strings.ToValidUTF8(l.Error, "?")
	if len(l.Error) > maxDeadLetterError {
		l.Error = strings.ToValidUTF8(l.Error[:maxDeadLetterError], "")
	}
	b, err := json.Marshal(storedDeadLetter{l.Observer, []byte(l.Row), l.Error, l.Attempts, l.Time})
	if err != nil {
		return nil, fmt.Errorf("notify: encode dead letter: %w", err)
	}
	return b, nil
}

func decodeDeadLetter(b []byte) (DeadLetter, error) {
	var s storedDeadLetter
	if err := json.Unmarshal(b, &s); err != nil {
		return DeadLetter{}, err
	}
	return DeadLetter{s.Observer, string(s.Row), s.Error, s.Attempts, s.Time}, nil
}

// DeadLetters lists all dead letters, as EachDeadLetter does.
func DeadLetters(ctx context.Context, db *txn.DB) (letters []DeadLetter, err error) {
	err = EachDeadLetter(ctx, db, func(l DeadLetter) { letters = append(letters, l) })
	return letters, err
}

// EachDeadLetter calls fn for all dead letters, by observer and row. It omits those that cannot be
// read, and names them in the error. It takes no timestamp, so it does not disturb Quiesce.
func EachDeadLetter(ctx context.Context, db *txn.DB, fn func(DeadLetter)) error {
	var broken []error
	each := func(key string, cols []txn.Version) error {
		l, err := decodeDeadLetter(cols[0].Data)
		if err != nil {
			broken = append(broken, fmt.Errorf("notify: dead letter %q: %w", strings.ReplaceAll(key, "\x00", " "), err))
			return nil
		}
		fn(l)
		return nil
	}
	err := db.View(ctx, func(tx *txn.Txn) error { return tx.Scan(ctx, DeadGroup, "", "", each) })
	if err != nil {
		broken = append(broken, fmt.Errorf("notify: list dead letters: %w", err))
	}
	return errors.Join(broken...)
}

// writeDeadLetter writes the dead letter, and then removes the notification, up to the newest
// one for which the row failed: a later change renews it, and is run. A crash in
// between leaves both, and the row is tried and set aside again. The change is not
// acknowledged, so a retry may run for it.
func (p *Pipeline) writeDeadLetter(ctx context.Context, o *Observer, e *entry, cause error) error {
	key := deadRow(o.Name, e.row)
	value, err := encodeDeadLetter(DeadLetter{Observer: o.Name, Row: e.row, Error: cause.Error(), Attempts: e.failures, Time: time.Now().UTC()})
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

// clearDeadLetters removes the dead letters of rows that are about to be run again, in the
// transaction of the run, so they disappear if it commits.
func (p *Pipeline) clearDeadLetters(ctx context.Context, tx *txn.Txn, observer string, rows []string) error {
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

// Retry runs an observer again on a row on which it gave up, with as many attempts
// as for a new row. The run's commit removes the dead letter, so nothing
// is lost if the process ends first. Retry returns at once; Quiesce waits for the
// run. Errors: ErrNoDeadLetter; ErrStopped; an error if the queue is full.
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
	if err := requireDeadLetter(ctx, tx, observer, row); err != nil {
		return err
	}
	if p.shared != nil {
		return p.retryAnywhere(ctx, observer, row)
	}
	// The current timestamp is newer than every acknowledgement, so the observer runs.
	cell := txn.Cell{Row: row, Column: p.registry.list[i].Watches}
	_, full, _ := p.queue.add([]txn.Notification{{Cell: cell, Observer: observer, TS: tx.Start()}}, true)
	if full {
		return fmt.Errorf("notify: retry %q of %s: too many rows are waiting, try again later", row, observer)
	}
	return nil
}

// retryAnywhere is Retry on a table that several processes share: the process that finds
// the notification runs the observer. It wakes the other observers of the column as well,
// which do nothing new.
func (p *Pipeline) retryAnywhere(ctx context.Context, observer, row string) error {
	_, err := p.db.Run(ctx, func(tx *txn.Txn) error {
		if err := requireDeadLetter(ctx, tx, observer, row); err != nil {
			return err
		}
		tx.Delete(deadRow(observer, row), deadColumn)
		tx.Notify(row, p.registry.list[p.registry.byName[observer]].Watches)
		return nil
	})
	if err != nil {
		return fmt.Errorf("notify: retry %q of %s: %w", row, observer, err)
	}
	return nil
}

// Drop removes a dead letter without running the observer. The row is run again when
// it changes. Drop returns ErrNoDeadLetter if there is no such letter.
func (p *Pipeline) Drop(ctx context.Context, observer, row string) error {
	if p.db == nil {
		return ErrStopped
	}
	_, err := p.db.Run(ctx, func(tx *txn.Txn) error {
		if err := requireDeadLetter(ctx, tx, observer, row); err != nil {
			return err
		}
		tx.Delete(deadRow(observer, row), deadColumn)
		return nil
	})
	if err != nil && !errors.Is(err, ErrNoDeadLetter) {
		return fmt.Errorf("notify: drop the dead letter of %q of %s: %w", row, observer, err)
	}
	return err
}

func requireDeadLetter(ctx context.Context, tx *txn.Txn, observer, row string) error {
	v, err := tx.Get(ctx, deadRow(observer, row), deadColumn)
	if err == nil && !v.Exists {
		err = fmt.Errorf("%w: %q of %s", ErrNoDeadLetter, row, observer)
	}
	return err
}
