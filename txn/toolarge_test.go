package txn

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// A transaction that is too large is refused by name before anything of it is in the
// table: no lock, no data, no record of a rollback, whichever of its cells is to blame.
func TestTooLargeLeavesNothing(t *testing.T) {
	for _, m := range modes {
		for name, fill := range map[string]func(tx *Txn){
			"the last value": func(tx *Txn) {
				for i := range 10 {
					tx.Set("row", app(fmt.Sprint("c", i)), make([]byte, 900))
				}
				tx.Set("row", app("last"), make([]byte, 1001))
			},
			"the number of cells": func(tx *Txn) {
				for i := range 21 {
					tx.Set(fmt.Sprint("row", i), app("c"), make([]byte, 900))
				}
			},
			"the number of cells got for update": func(tx *Txn) {
				tx.Set("row", app("c"), make([]byte, 1000))
				for i := range 20 {
					if _, err := tx.GetForUpdate(t.Context(), fmt.Sprint("row", i), app("c")); err != nil {
						t.Error(err)
					}
				}
			},
		} {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				table, err := mem.New(Groups("app"), mem.Options{Limits: store.Limits{MaxValueBytes: 1000, MaxBatchBytes: 1500}})
				if err != nil {
					t.Fatal(err)
				}
				defer closeTable(t, table)
				db := open(t, table, Options{Mode: m.mode, cells: 20})
				defer db.Close()
				tx := mustBegin(t, db)
				fill(tx)
				if _, err := tx.Commit(t.Context()); !errors.Is(err, ErrTooLarge) || !errors.Is(err, store.ErrTooLarge) {
					t.Errorf("commit: %v", err)
				}
				if lines, err := readShown(table); err != nil || len(lines) > 0 {
					t.Errorf("something was left: %v, %v", lines, err)
				}
			})
		}
	}
}

// A commit whose context ends undoes for no longer than finishTimeout; the next readers
// resolve the remaining locks.
func TestUndoEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, err := mem.New(Groups("app"), mem.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closeTable(t, table)
		ctx, cancel := context.WithCancel(t.Context())
		undone, slow := 0, true
		db := open(t, table, Options{Mode: TwoPhase, Step: func(step string, _ Cell) error {
			switch step {
			case stepCommitTS:
				cancel()
			case stepUndo:
				if slow {
					time.Sleep(time.Second)
				}
				undone++
			}
			return nil
		}})
		defer db.Close()
		const cells = 100
		tx := mustBegin(t, db)
		for i := range cells {
			tx.Set(fmt.Sprint("row", i), app("c"), nil)
		}
		began := time.Now()
		if _, err := tx.Commit(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if took := time.Since(began); took > finishTimeout+2*time.Second || undone == cells {
			t.Errorf("%d cells were undone in %v", undone, took)
		}
		slow = false
		if _, err := db.Run(t.Context(), func(tx *Txn) error {
			for i := range cells {
				if v, err := tx.Get(t.Context(), fmt.Sprint("row", i), app("c")); err != nil || v.Exists {
					return fmt.Errorf("row%d: %v, %w", i, v.Exists, err)
				}
				tx.Set(fmt.Sprint("row", i), app("c"), nil)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}
