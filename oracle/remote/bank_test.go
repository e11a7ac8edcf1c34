package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// TestBank: transfers in several DBs, each with a client of its own, while oracles come and
// go. The sum never changes.
func TestBank(t *testing.T) {
	ctx, table := t.Context(), newTable(t)
	sites := []*site{startSite(t, table, Security{}), startSite(t, table, Security{})}
	var dbs []*txn.DB
	for range 3 {
		dbs = append(dbs, openBank(t, table, sites[0].address, sites[1].address))
	}
	if _, err := dbs[0].Run(ctx, openAccounts); err != nil {
		t.Fatal(err)
	}
	seed := testenv.Random(t).Uint64()
	var work sync.WaitGroup
	done, committed := make(chan struct{}), make(chan struct{}, 100)
	for i, db := range dbs {
		for g := range 3 {
			work.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(10*i+g)))
				for {
					if _, err := db.Run(ctx, func(tx *txn.Txn) error { return transfer(tx, random) }); err != nil {
						t.Error(err)
					}
					select {
					case committed <- struct{}{}:
					case <-done:
						return
					}
				}
			})
		}
	}
	for i := range testenv.Size(1, 3, 50) {
		for range 50 { // work continues under each oracle
			<-committed
		}
		old := sites[i%2]
		old.end(t)
		if _, err := dbs[0].Timestamp(ctx); err != nil {
			t.Error(err)
		}
		sites[i%2] = startSiteAt(t, table, old.address, Security{})
	}
	close(done)
	work.Wait()
	now, err := dbs[1].Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tx := dbs[1].At(now)
	if _, err := audit(tx); err != nil {
		t.Error(err)
	}
	tx.Rollback()
	for _, s := range sites {
		s.end(t)
	}
}

// openBank opens a table as a process of its own.
func openBank(t *testing.T, table store.Table, addresses ...string) *txn.DB {
	t.Helper()
	member, err := oracle.Join(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(addresses, member.Token(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	together, err := c.Coordination(t.Context(), member, member.Domain())
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(t.Context(), table, txn.Options{Coordination: together})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), c.Close(), member.Leave(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return db
}
