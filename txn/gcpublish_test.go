package txn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// TestPublicationsInOrder: a reader of the past begins while its process is about to publish a bound.
// Once the reader has published its own timestamp, no greater bound replaces it.
func TestPublicationsInOrder(t *testing.T) {
	for range 20 {
		table, coordinator := sharedTable(t), sharedtest.New()
		db, _ := openShared(t, table, coordinator, Options{})
		past := setC(t, db, "one")
		setC(t, db, "two")
		publishAll(t, db)
		done := make(chan error)
		db.published.mu.Lock()
		go func() { done <- db.publishReaders(t.Context()) }()
		for range 1000 { // until it waits for the mutex
			runtime.Gosched()
		}
		tx := db.At(past)
		db.published.mu.Unlock()
		wantValue(t, tx, "one")
		if err := <-done; err != nil {
			t.Error(err)
		}
		cells, err := table.Read(t.Context(), db.boundRow(), store.Selector{Group: metaGroup, Prefix: true})
		if err != nil || len(cells) != 1 {
			t.Fatal(cells, err)
		}
		if bound := binary.BigEndian.Uint64(cells[0].Value); bound > past {
			t.Fatalf("a reader at %d began, and the bound is %d", past, bound)
		}
		tx.Rollback()
	}
}

// TestPinJustInTime: a process makes a pin after a collector has read the pins, and before it
// publishes the safe point. A pin that was made can be read, and does not keep others from collecting.
func TestPinJustInTime(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	hook := &beforeWrite{Table: table}
	a, _ := openShared(t, hook, coordinator, Options{})
	b, _ := openShared(t, table, coordinator, Options{})
	past := setC(t, a, "one")
	setC(t, a, "")
	publishAll(t, a, b)
	hook.row, hook.do = gcRow, func() {
		if _, err := b.Pin(t.Context(), Pin{Name: "p", TS: past}); err != nil {
			t.Error(err)
		}
	}
	got := collect(t, a)
	if hook.do != nil || got.SafePoint != past {
		t.Errorf("the safe point is %d, with a pin at %d", got.SafePoint, past)
	}
	for _, db := range []*DB{a, b} {
		tx := db.At(past)
		wantValue(t, tx, "one")
		tx.Rollback()
	}
}

// beforeWrite calls do once, before a row is written.
type beforeWrite struct {
	store.Table
	row []byte
	do  func()
}

func (s *beforeWrite) before(row []byte) {
	if do := s.do; do != nil && bytes.Equal(row, s.row) {
		s.do = nil
		do()
	}
}

func (s *beforeWrite) Apply(ctx context.Context, rows []store.RowMutation) error {
	s.before(rows[0].Row)
	return s.Table.Apply(ctx, rows)
}

func (s *beforeWrite) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	s.before(m.Row)
	return s.Table.Mutate(ctx, m)
}

// TestCollectsWhatCannotBeRead: a longer history than before, or a pin that came too late, cannot bring
// the past back. They do not keep a process from collecting what lies below the safe point.
func TestCollectsWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, coordinator := sharedTable(t), sharedtest.New()
		a, _ := openShared(t, table, coordinator, Options{})
		silent := &failingRead{Table: table}
		b, _ := openShared(t, silent, coordinator, Options{})
		past := setC(t, a, "one")
		setC(t, a, "two")
		publishAll(t, a, b)
		safe := collect(t, a).SafePoint
		if safe <= past {
			t.Fatalf("the safe point is %d", safe)
		}
		c, _ := openShared(t, table, coordinator, Options{History: time.Hour})
		silent.row = gcRow
		if _, err := b.Pin(t.Context(), Pin{Name: "late", TS: past}); !errors.Is(err, errRead) {
			t.Errorf("Pin: %v", err)
		}
		silent.row = nil
		publishAll(t, a, b, c)
		for _, db := range []*DB{a, b, c} {
			if got := collect(t, db); got.SafePoint < safe {
				t.Errorf("the safe point was %d and is %d", safe, got.SafePoint)
			}
		}
	})
}

var errRead = errors.New("no answer")

// failingRead fails to read a row.
type failingRead struct {
	store.Table
	row []byte
}

func (s *failingRead) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if s.row != nil && bytes.Equal(row, s.row) {
		return nil, errRead
	}
	return s.Table.Read(ctx, row, sel...)
}

// TestSafePointOfOthers: a process that collects nothing learns how far others have raised the safe
// point. stats, metrics and traces show it.
func TestSafePointOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, o := sharedTable(t), sharedtest.New()
		collects, _ := openShared(t, table, o, Options{})
		reads, _ := openShared(t, table, o, Options{})
		setC(t, collects, "one")
		time.Sleep(publishEvery)
		synctest.Wait()
		safe := collect(t, collects).SafePoint
		time.Sleep(publishEvery)
		synctest.Wait()
		if got := reads.SafePoint(); safe == 0 || got != safe {
			t.Errorf("the safe point is %d, and another process shows %d", safe, got)
		}
	})
}
