package cli

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// TestCopySeesWrongClock: a process whose clock is wrong, and whose oracle has ended, still uses
// the source of a copy. The copy is refused, and does not wait for the end of that process.
func TestCopySeesWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, err := mem.New(txn.Groups("app"), mem.Options{TwoPhaseOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		beat := func(n uint64) {
			value, err := json.Marshal(oracle.Process{Token: "slow", Beat: time.Now().Add(-time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			err = table.Apply(t.Context(), []store.RowMutation{{Row: []byte("process/slow"), Mutations: []store.Mutation{
				{Op: store.Put, Group: txn.MetaGroup, Column: []byte("beat"), TS: n, Value: value},
			}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		beat(1)
		own, err := oracle.StartOwn(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 1)
		go func() {
			refused <- refuseOthers(t.Context(), &deployment{table: table, coordination: own.Coordination()})
		}()
		for n := uint64(2); n < 40 && len(refused) == 0; n++ {
			time.Sleep(oracle.TTL / 4)
			beat(n)
		}
		select {
		case err := <-refused:
			if !errors.Is(err, errSourceInUse) {
				t.Error(err)
			}
		default:
			t.Error("the copy still waits for the end of the process")
		}
		if err := errors.Join(own.Stop(t.Context()), table.Close()); err != nil {
			t.Error(err)
		}
	})
}
