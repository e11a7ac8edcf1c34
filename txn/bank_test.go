package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// TestBank moves money between accounts from many goroutines at once, while
// auditors add it up. Whatever commits, waits, crashes or is rolled back: every
// snapshot holds the same sum, and every account as many transfers as it had.
func TestBank(t *testing.T) {
	const accounts, workers = 12, 4
	usual := testenv.Size(120, 400, 400)
	run := func(t *testing.T, table store.Table, mode Mode, transfers int) {
		b := &bank{t: t, accounts: accounts}
		b.db = open(t, table, Options{Mode: mode, Step: b.crash, LockTTL: 30 * time.Millisecond})
		b.deposit()
		var working, auditing sync.WaitGroup
		stop := make(chan struct{})
		for range 2 {
			auditing.Go(func() { b.audit(stop) })
		}
		for w := range workers {
			working.Go(func() {
				for i := range transfers / workers {
					b.transfer(w, i)
				}
			})
		}
		working.Wait()
		close(stop)
		auditing.Wait()
		b.crashing.Store(false)
		b.checkCounts()
		if err := b.db.Close(); err != nil {
			t.Error(err)
		}
		if n := b.db.Running(); n != 0 {
			t.Errorf("%d transactions are still running", n)
		}
		t.Logf("%d transfers, %d conflicts, %d crashes, %d rolled forward, %d rolled back, %d waits, %d too large",
			b.done.Load(), b.db.Counters().Conflicts.Load(), b.crashes.Load(), b.db.Counters().RolledForward.Load(),
			b.db.Counters().RolledBack.Load(), b.db.Counters().LockWaits.Load(), b.db.Counters().TooLargeForOnePhase.Load())
	}
	eachMode(t, func(t *testing.T, e engine, mode Mode) {
		transfers := usual
		if e.remote {
			transfers = testenv.Size(40, 60, 2000)
		}
		table := e.open(t, Groups("app"))
		defer closeTable(t, table)
		run(t, table, mode, transfers)
	})
	t.Run("mem/mixed", func(t *testing.T) {
		table, err := mem.New(Groups("app"), mem.Options{Limits: store.Limits{MaxBatchBytes: 150}})
		if err != nil {
			t.Fatal(err)
		}
		defer closeTable(t, table)
		run(t, table, OnePhase, usual)
	})
}

type bank struct {
	t        *testing.T
	db       *DB
	accounts int
	crashing atomic.Bool
	crashes  atomic.Int64
	done     atomic.Int64
}

const (
	bankBalance = 100
	bankPadding = 60 // bytes that make a transfer too large for the small table
)

// crash is Options.Step: one step in 60 is the last of its transaction.
func (b *bank) crash(step string, _ Cell) error {
	if b.crashing.Load() && step != stepCommitBatch && rand.IntN(60) == 0 {
		b.crashes.Add(1)
		return ErrCrash
	}
	return nil
}

func (b *bank) account(i int) string { return fmt.Sprintf("account%02d", i) }

func (b *bank) deposit() {
	_, err := b.db.Run(context.Background(), func(tx *Txn) error {
		tx.Set(b.account(0), app("balance"), []byte(strconv.Itoa(bankBalance*b.accounts)))
		return nil
	})
	if err != nil {
		b.t.Error(err)
	}
	b.crashing.Store(true)
}

// transfer moves a random sum, and checks that the next transaction sees it.
func (b *bank) transfer(worker, i int) {
	ctx := context.Background()
	from := rand.IntN(b.accounts)
	to := (from + 1 + rand.IntN(b.accounts-1)) % b.accounts
	amount := rand.IntN(5)
	commit, err := b.db.Run(ctx, func(tx *Txn) error {
		for _, change := range []struct{ account, by int }{{from, -amount}, {to, amount}} {
			if err := b.add(ctx, tx, change.account, change.by); err != nil {
				return err
			}
		}
		if i%2 == 0 {
			tx.Set(fmt.Sprint("memo", worker), app("memo"), make([]byte, bankPadding))
		}
		return nil
	})
	if commit != 0 {
		b.done.Add(1)
	}
	if err != nil {
		if !errors.Is(err, ErrCrash) {
			b.t.Error(err)
		}
		return
	}
	tx := mustBegin(b.t, b.db)
	defer tx.Rollback()
	if v, err := tx.Get(ctx, b.account(to), app("balance")); err != nil || v.TS < commit {
		b.t.Errorf("a transaction that began at %d after the commit at %d sees the version of %d: %v", tx.Start(), commit, v.TS, err)
	}
}

func (b *bank) add(ctx context.Context, tx *Txn, account, amount int) error {
	cols, err := tx.GetRow(ctx, b.account(account), "app")
	if err != nil {
		return err
	}
	balance, count := numbers(cols)
	tx.Set(b.account(account), app("balance"), []byte(strconv.Itoa(balance+amount)))
	tx.Set(b.account(account), app("count"), []byte(strconv.Itoa(count+1)))
	return nil
}

func numbers(cols []Version) (balance, count int) {
	for _, v := range cols {
		n, _ := strconv.Atoi(string(v.Data))
		switch v.Name {
		case "balance":
			balance = n
		case "count":
			count = n
		}
	}
	return balance, count
}

// audit adds up all accounts, by scanning and by reading them one by one.
func (b *bank) audit(stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		tx := mustBegin(b.t, b.db)
		sum, _ := b.sum(tx, i%2 == 0)
		if sum != bankBalance*b.accounts {
			b.t.Errorf("the snapshot at %d holds %d", tx.Start(), sum)
		}
		tx.Rollback()
	}
}

func (b *bank) sum(tx *Txn, scan bool) (sum, count int) {
	ctx := context.Background()
	add := func(_ string, cols []Version) error {
		n, c := numbers(cols)
		sum, count = sum+n, count+c
		return nil
	}
	if scan {
		if err := tx.ScanPrefix(ctx, "app", strings.TrimRight(b.account(0), "0"), add); err != nil {
			b.t.Error(err)
		}
		return sum, count
	}
	for i := range b.accounts {
		cols, err := tx.GetRow(ctx, b.account(i), "app")
		if err != nil {
			b.t.Error(err)
		}
		_ = add("", cols)
	}
	return sum, count
}

func (b *bank) checkCounts() {
	tx := mustBegin(b.t, b.db)
	defer tx.Rollback()
	sum, count := b.sum(tx, true)
	if sum != bankBalance*b.accounts || int64(count) != 2*b.done.Load() {
		b.t.Errorf("in the end there are %d dollars and %d entries of %d transfers", sum, count, b.done.Load())
	}
}
