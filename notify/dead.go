package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"indexer/txn"
)

// DeadGroup is the locality group of the dead letters; an application that uses
// this package opens its table with it.
const DeadGroup = "dead"

// deadColumn holds a letter; its row is the observer's name, a zero byte, and
// the row that could not be run.
var deadColumn = txn.Column{Group: DeadGroup, Name: "letter"}

// Letter is a row that an observer gave up on.
type Letter struct {
	Observer string    `json:"observer"`
	Row      string    `json:"row"`
	Error    string    `json:"error"`
	Attempts int       `json:"attempts"`
	Time     time.Time `json:"time"`
}

func deadRow(observer, row string) string { return observer + "\x00" + row }

// deadSet remembers which rows have a letter, so that a run that succeeds later
// removes it without every run having to look.
type deadSet struct {
	mu   sync.Mutex
	rows map[string]bool
}

func (s *deadSet) has(row string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[row]
}

func (s *deadSet) add(row string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = make(map[string]bool)
	}
	s.rows[row] = true
}

// loadDead reads which rows have letters.
func (p *Pipeline) loadDead(ctx context.Context) error {
	letters, err := DeadLetters(ctx, p.db)
	if err != nil {
		return err
	}
	for _, l := range letters {
		p.dead.add(deadRow(l.Observer, l.Row))
	}
	return nil
}

// bury writes the letter and removes the notification, in one transaction. The
// change is not acknowledged: a retry may run for it.
func (p *Pipeline) bury(ctx context.Context, o *Observer, e *entry, cause error) (start uint64, err error) {
	letter := Letter{Observer: o.Name, Row: e.row, Error: cause.Error(), Attempts: e.failures, Time: time.Now().UTC()}
	value, err := json.Marshal(letter)
	if err != nil {
		return 0, fmt.Errorf("notify: encode dead letter: %w", err)
	}
	tx, err := p.db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	tx.Answer(txn.Trigger{Cell: txn.Cell{Row: e.row, Column: o.Watches}, Observer: o.Name, TS: e.newest})
	tx.Set(deadRow(o.Name, e.row), deadColumn, value)
	if _, err := tx.Commit(ctx); err != nil {
		return 0, fmt.Errorf("notify: bury %q of %s: %w", e.row, o.Name, err)
	}
	p.meters[e.observer].dead.Add(1)
	p.dead.add(deadRow(o.Name, e.row))
	return tx.Start(), nil
}

// revive removes the letters of rows that are about to be run again, in the
// transaction of the run: if it commits, they are answered.
func (p *Pipeline) revive(tx *txn.Txn, observer string, batch []*entry) {
	for _, e := range batch {
		if row := deadRow(observer, e.row); p.dead.has(row) {
			tx.Delete(row, deadColumn)
		}
	}
}

// DeadLetters lists all letters, by observer and row.
func DeadLetters(ctx context.Context, db *txn.DB) ([]Letter, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var letters []Letter
	err = tx.Scan(ctx, DeadGroup, "", "", func(row string, cols []txn.Version) error {
		var l Letter
		if err := json.Unmarshal(cols[0].Data, &l); err != nil {
			return fmt.Errorf("dead letter %q: %w", strings.ReplaceAll(row, "\x00", " "), err)
		}
		letters = append(letters, l)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("notify: list dead letters: %w", err)
	}
	return letters, nil
}
