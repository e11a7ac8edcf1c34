package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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
	table := newTable(t)
	sites := []*site{startSite(t, table, Security{}), startSite(t, table, Security{})}
	addresses := []string{sites[0].address, sites[1].address}
	const accounts = 8
	name := func(i int) string { return fmt.Sprint("account", i) }
	balance := txn.Column{Group: "app", Name: "balance"}
	var dbs []*txn.DB
	for range 3 {
		member, err := oracle.Join(t.Context(), table, 0)
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
		dbs = append(dbs, db)
		t.Cleanup(func() {
			if err := errors.Join(db.Close(), c.Close(), member.Leave(context.Background())); err != nil {
				t.Error(err)
			}
		})
	}
	ctx := t.Context()
	_, err := dbs[0].Run(ctx, func(tx *txn.Txn) error {
		for i := range accounts {
			tx.Set(name(i), balance, bytes.Repeat([]byte{1}, 100))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := func(tx *txn.Txn) (n int) {
		for i := range accounts {
			v, err := tx.Get(ctx, name(i), balance)
			if err != nil {
				t.Error(err)
			}
			n += len(v.Data)
		}
		return n
	}
	seed := testenv.Random(t).Uint64()
	var work sync.WaitGroup
	done, committed := make(chan struct{}), make(chan struct{}, 100)
	for i, db := range dbs {
		for g := range 3 {
			work.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(10*i+g)))
				for {
					select {
					case <-done:
						return
					default:
					}
					from, to := name(random.IntN(accounts)), name(random.IntN(accounts))
					_, err := db.Run(ctx, func(tx *txn.Txn) error {
						if n := sum(tx); n != 100*accounts {
							t.Errorf("a sum of %d", n)
						}
						v, _ := tx.Get(ctx, from, balance)
						w, _ := tx.Get(ctx, to, balance)
						if n := random.IntN(20); from != to && n <= len(v.Data) {
							tx.Set(from, balance, v.Data[n:])
							tx.Set(to, balance, append(bytes.Clone(w.Data), v.Data[:n]...))
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
					select {
					case committed <- struct{}{}:
					case <-done:
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
		sites[i%2] = startSiteAt(t, table, old.address)
	}
	close(done)
	work.Wait()
	tx := dbs[1].At(must(dbs[1].Now(ctx)))
	if n := sum(tx); n != 100*accounts {
		t.Errorf("a sum of %d in the end", n)
	}
	tx.Rollback()
	for _, s := range sites {
		s.end(t)
	}
}

func must(ts uint64, err error) uint64 {
	if err != nil {
		panic(err)
	}
	return ts
}

// startSiteAt starts an oracle at the address of one that has ended.
func startSiteAt(t testing.TB, table store.Table, address string) *site {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.Start(t.Context(), table, oracle.Options{
		Address: address,
		Join:    func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := Serve(l, o, Security{})
	if err != nil {
		t.Fatal(err)
	}
	return &site{o, srv, address}
}
