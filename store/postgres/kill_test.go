package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// bank moves money between accounts. Each transfer also counts up at both accounts.
type bank struct {
	t                *testing.T
	db               *txn.DB
	accounts         int
	done, unknown    atomic.Int64 // transfers
	balance, entries txn.Column
}

const perAccount = 100

func openBank(t *testing.T, table store.Table, accounts int) *bank {
	t.Helper()
	b := &bank{t: t, accounts: accounts, balance: txn.Column{Group: "app", Name: "balance"}, entries: txn.Column{Group: "app", Name: "entries"}}
	b.reopen(table)
	_, err := b.db.Run(t.Context(), func(tx *txn.Txn) error {
		for i := range accounts {
			tx.Set(account(i), b.balance, []byte(strconv.Itoa(perAccount)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reopen continues as another process would.
func (b *bank) reopen(table store.Table) {
	b.t.Helper()
	db, err := txn.Open(b.t.Context(), table, txn.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.t.Error(err)
		}
	})
	b.db = db
}

func account(i int) string { return fmt.Sprintf("account%03d", i) }

// transfer moves a random sum once. What it returns is not known to have failed.
func (b *bank) transfer(ctx context.Context, random *rand.Rand) error {
	from := random.IntN(b.accounts)
	to := (from + 1 + random.IntN(b.accounts-1)) % b.accounts
	amount := random.IntN(5)
	_, err := b.db.Run(ctx, func(tx *txn.Txn) error {
		for _, change := range []struct{ account, by int }{{from, -amount}, {to, amount}} {
			row := account(change.account)
			for column, by := range map[txn.Column]int{b.balance: change.by, b.entries: 1} {
				v, err := tx.Get(ctx, row, column)
				if err != nil {
					return err
				}
				n, _ := strconv.Atoi(string(v.Data))
				tx.Set(row, column, []byte(strconv.Itoa(n+by)))
			}
		}
		return nil
	})
	switch {
	case err == nil:
		b.done.Add(1)
	case errors.Is(err, txn.ErrUnknown):
		b.unknown.Add(1)
	}
	return err
}

// check adds up: nothing was lost, and nothing was done twice.
func (b *bank) check() {
	b.t.Helper()
	tx, err := b.db.Begin(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	defer tx.Rollback()
	sum, entries := 0, 0
	for i := range b.accounts {
		for column, total := range map[txn.Column]*int{b.balance: &sum, b.entries: &entries} {
			v, err := tx.Get(b.t.Context(), account(i), column)
			if err != nil {
				b.t.Fatal(err)
			}
			n, _ := strconv.Atoi(string(v.Data))
			*total += n
		}
	}
	done, most := 2*int(b.done.Load()), 2*int(b.done.Load()+b.unknown.Load())
	if sum != perAccount*b.accounts || entries < done || entries > most {
		b.t.Errorf("the accounts hold %d, want %d; %d entries, want %d to %d", sum, perAccount*b.accounts, entries, done, most)
	}
}

// TestServerKilled kills all processes of the server while transfers run, and starts it
// again: work continues, no transfer is lost or done twice, and no lock stays.
func TestServerKilled(t *testing.T) {
	server := pgtest.Shared(t)
	table, err := Open(t.Context(), server.Schema(t), txn.Groups("app"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	b := openBank(t, table, 20)
	kills, between, workers := testenv.Size(1, 2, 20), testenv.Size(20, 40, 500), 8
	seed := testenv.Random(t).Uint64()
	var (
		work   sync.WaitGroup
		failed atomic.Int64
		stop   = make(chan struct{})
		moved  = make(chan struct{}) // one for each transfer that committed
	)
	for w := range workers {
		work.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				if err := b.transfer(t.Context(), random); err != nil {
					failed.Add(1)
				}
				select {
				case moved <- struct{}{}:
				case <-stop:
					return
				}
			}
		})
	}
	for range kills {
		for range between {
			<-moved
		}
		server.Kill()
		server.Restart(t)
	}
	for range between {
		<-moved
	}
	close(stop)
	work.Wait()
	b.check()
	t.Logf("%d transfers committed, %d are unknown, %d errors, %d locks rolled forward, %d back", b.done.Load(), b.unknown.Load(), failed.Load(),
		b.db.Counters().RolledForward.Load(), b.db.Counters().RolledBack.Load())
}

// TestPartition cuts off a process in the middle of its transfers, in one direction or both, and
// connects it again. It never commits twice, and the next process resolves the locks
// that it left.
func TestPartition(t *testing.T) {
	t.Parallel() // it waits for timeouts
	server := pgtest.Shared(t)
	setting := server.Schema(t)
	proxy := server.Proxy(t)
	direct, err := Open(t.Context(), setting, txn.Groups("app"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	b := openBank(t, direct, 10)
	table, err := Open(t.Context(), proxy.URL(t, setting), txn.Groups("app"), Options{CallTimeout: time.Second, RetryFor: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	b.reopen(table)
	random := testenv.Random(t)
	for round := range testenv.Size(1, 4, 40) {
		var work sync.WaitGroup
		for range 4 {
			local := rand.New(rand.NewPCG(random.Uint64(), 0))
			work.Go(func() {
				for range 5 {
					_ = b.transfer(t.Context(), local) // counted
				}
			})
		}
		switch round % 4 {
		case 0:
			proxy.HoldAnswers()
		case 1:
			proxy.HoldRequests()
		case 2:
			proxy.Cut()
		case 3:
			proxy.HoldRequests()
			proxy.HoldAnswers()
		}
		work.Wait()
		proxy.Release()
	}
	b.reopen(direct)
	b.check()
	if err := b.transfer(t.Context(), random); err != nil {
		t.Errorf("after the partition: %v", err)
	}
	b.check()
	t.Logf("%d transfers committed, %d are unknown", b.done.Load(), b.unknown.Load())
}
