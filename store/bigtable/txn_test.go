package bigtable_test

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

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/notify/stresso"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
	"github.com/webindexer/indexer/txn"
)

func openTable(t testing.TB, url string, groups []store.GroupSpec) *bigtable.DB {
	t.Helper()
	table, err := bigtable.Open(context.Background(), url, groups, bigtable.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, table)
	return table
}

// unreliable is a proxy that loses and delays a part of all requests and answers, as long as
// the test says so.
func unreliable(t *testing.T, bad *atomic.Bool) string {
	rng := testenv.Random(t)
	proxy := bigtabletest.NewProxy(t, bigtabletest.Start(t), func(string) bigtabletest.Fault {
		switch n := rng.IntN(400); {
		case !bad.Load():
			return bigtabletest.Fault{}
		case n < 6:
			return bigtabletest.Fault{Kind: bigtabletest.Lost}
		case n < 8:
			return bigtabletest.Fault{Kind: bigtabletest.Fail}
		case n < 30:
			return bigtabletest.Fault{Kind: bigtabletest.Delay, Wait: time.Duration(n) * time.Millisecond / 3}
		}
		return bigtabletest.Fault{}
	})
	return bigtabletest.At(proxy.Host, fmt.Sprintf("bank-%x", rand.Uint64()))
}

var balance = txn.Column{Group: "app", Name: "balance"}

// TestBank: transfers between accounts, over a reliable and an unreliable network, with
// clients that die in their commits. In every snapshot the sum is the same, and in the end each
// transfer that was reported as committed is there, once.
func TestBank(t *testing.T) {
	for name, url := range map[string]func(t *testing.T, bad *atomic.Bool) string{
		"reliable":   func(t *testing.T, _ *atomic.Bool) string { return bigtabletest.URL(t) },
		"unreliable": unreliable,
	} {
		t.Run(name, func(t *testing.T) {
			b := &bank{T: t, accounts: 8}
			table := openTable(t, url(t, &b.working), txn.Groups("app"))
			var err error
			b.db, err = txn.Open(t.Context(), table, txn.Options{LockTTL: 300 * time.Millisecond, Step: b.die})
			if err != nil {
				t.Fatal(err)
			}
			b.run(testenv.Size(60, 200, 5000), 8)
			if err := b.db.Close(); err != nil {
				t.Error(err)
			}
			t.Logf("%d committed, %d perhaps, %d failed, %d died; %d conflicts; %+v", b.committed.Load(), b.perhaps.Load(), b.failed.Load(), b.died.Load(), b.db.Counters().Conflicts.Load(), table.Stats())
		})
	}
}

type bank struct {
	*testing.T
	db                               *txn.DB
	accounts                         int
	working                          atomic.Bool
	committed, perhaps, failed, died atomic.Int64
}

// die ends one commit in 40 as the death of its process would.
func (b *bank) die(string, txn.Cell) error {
	if b.working.Load() && rand.IntN(400) == 0 {
		b.died.Add(1)
		return txn.ErrCrash
	}
	return nil
}

const deposit = 1000

func (b *bank) run(transfers, clients int) {
	ctx := b.Context()
	if _, err := b.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set("account0", balance, []byte(strconv.Itoa(deposit)))
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	b.working.Store(true)
	var work sync.WaitGroup
	for range clients {
		work.Go(func() {
			for i := range transfers / clients {
				b.transfer(ctx)
				if i%4 == 0 {
					b.audit(ctx)
				}
			}
		})
	}
	work.Wait()
	b.working.Store(false)
	sum, entries := b.audit(ctx)
	least, most := b.committed.Load(), b.committed.Load()+b.perhaps.Load()+b.died.Load()
	if sum != deposit || int64(entries) < least || int64(entries) > most {
		b.Errorf("in the end there are %d dollars after %d transfers; at least %d and at most %d committed", sum, entries, least, most)
	}
}

func (b *bank) account(i int) string { return fmt.Sprint("account", i) }

// transfer moves a dollar and counts itself, in a row that few others write.
func (b *bank) transfer(ctx context.Context) {
	from := rand.IntN(b.accounts)
	to := (from + 1 + rand.IntN(b.accounts-1)) % b.accounts
	_, err := b.db.Run(ctx, func(tx *txn.Txn) error {
		for _, change := range []struct {
			row string
			by  int
		}{{b.account(from), -1}, {b.account(to), 1}, {fmt.Sprint("count", from), 1}} {
			n, err := number(ctx, tx, change.row)
			if err != nil {
				return err
			}
			tx.Set(change.row, balance, []byte(strconv.Itoa(n+change.by)))
		}
		return nil
	})
	switch {
	case err == nil:
		b.committed.Add(1)
	case errors.Is(err, txn.ErrUnknown):
		b.perhaps.Add(1)
	case !errors.Is(err, txn.ErrCrash):
		b.failed.Add(1)
		b.Log(err)
	}
}

func number(ctx context.Context, tx *txn.Txn, row string) (int, error) {
	v, err := tx.Get(ctx, row, balance)
	if err != nil || !v.Exists {
		return 0, err
	}
	return strconv.Atoi(string(v.Data))
}

// audit adds up a snapshot. To read what is locked it may have to change a row, which can
// fail; then it takes another snapshot.
func (b *bank) audit(ctx context.Context) (sum, entries int) {
	var err error
	for range 10 {
		if sum, entries, err = b.sum(ctx); err == nil {
			return sum, entries
		}
	}
	b.Error(err)
	return 0, 0
}

func (b *bank) sum(ctx context.Context) (sum, entries int, err error) {
	tx, err := b.db.Begin(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback()
	for i := range b.accounts {
		n, err := number(ctx, tx, b.account(i))
		m, err2 := number(ctx, tx, fmt.Sprint("count", i))
		if err := errors.Join(err, err2); err != nil {
			return 0, 0, err
		}
		sum, entries = sum+n, entries+m
	}
	if sum != deposit {
		b.Errorf("the snapshot at %d has %d dollars", tx.Start(), sum)
	}
	return sum, entries, nil
}

// TestStresso: Fluo's stress test of observers. Every notification is in the table with
// sharded keys, and all of them conflict in one row.
func TestStresso(t *testing.T) {
	ctx := t.Context()
	trie := stresso.Trie{Levels: 3}
	table := openTable(t, bigtabletest.URL(t), txn.Groups(stresso.Group, notify.DeadGroup))
	registry, err := notify.NewRegistry(trie.Observers(8)...)
	if err != nil {
		t.Fatal(err)
	}
	p := notify.New(registry, notify.Options{Workers: 8, Capacity: 50, Attempts: 1000})
	db, err := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: p.Handover})
	if err != nil {
		t.Fatal(err)
	}
	rng, numbers := testenv.Random(t), map[uint64]bool{}
	for range testenv.Size(30, 100, 3000) {
		n := rng.Uint64N(trie.Limit())
		numbers[n] = true
		if _, err := db.Run(ctx, func(tx *txn.Txn) error { return trie.Insert(ctx, tx, n) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Start(ctx, db); err != nil { // finds the notifications in the table
		t.Fatal(err)
	}
	ts, err := p.Quiesce(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tx := db.At(ts)
	defer tx.Rollback()
	count, err := trie.Check(ctx, tx)
	if err != nil || count.Root != uint64(len(numbers)) || count.Waiting != 0 {
		t.Errorf("the root has counted %d of %d numbers, and %d are on their way: %v", count.Root, len(numbers), count.Waiting, err)
	}
	if left, _, err := db.Notifications(ctx, "", 10); err != nil || len(left) > 0 {
		t.Errorf("notifications are left: %v, %v", left, err)
	}
	if err := errors.Join(p.Stop(), db.Close()); err != nil {
		t.Error(err)
	}
	t.Logf("%+v", table.Stats())
}
