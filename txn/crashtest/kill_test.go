// Package crashtest_test runs transactions in a process, kills it with SIGKILL at random
// moments and at every failpoint, again and again over one directory, and checks what
// remains.
package crashtest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

const (
	accounts = 16
	total    = 100 * accounts
	workers  = 8
)

var (
	balance = txn.Column{Group: "app", Name: "balance"}
	ledger  = txn.Column{Group: "app", Name: "entry"} // one row for each transfer
	seen    = txn.Column{Group: "app", Name: "seen"}  // what the observer saw of a balance: its commit timestamp
)

func observers(c txn.Column) []string {
	if c == balance {
		return []string{"watcher"}
	}
	return nil
}

func open(dir string, mode txn.Mode, step func(string) error) (store.Table, *txn.DB, error) {
	table, err := badgerdb.Open(dir, txn.Groups("app"), badgerdb.Options{MinFreeBytes: -1, Step: step})
	if err != nil {
		return nil, nil, err
	}
	opts := txn.Options{Mode: mode, Observers: observers}
	if step != nil {
		opts.Step = func(name string, _ txn.Cell) error { return step(name) }
	}
	db, err := txn.Open(context.Background(), table, opts)
	return table, db, err
}

// TestKilled: whatever moment the process dies at, the bank's total is exact, no
// acknowledged transfer is lost, the observer sees every changed balance in the end,
// and no lock blocks a transaction.
func TestKilled(t *testing.T) {
	kills := 10
	if testenv.Long() {
		kills = 200
	}
	rng := testenv.Random(t)
	for name, mode := range map[string]txn.Mode{"onephase": txn.OnePhase, "twophase": txn.TwoPhase} {
		t.Run(name, func(t *testing.T) {
			b := &bank{t: t, dir: filepath.Join(t.TempDir(), "table"), mode: mode, acked: make(map[string]bool)}
			b.deposit()
			for range kills / 2 {
				b.kill("", 0, 1+rng.IntN(400))
				b.audit()
			}
			for _, s := range txn.Steps() {
				if b.passes(s.Name) {
					b.kill(s.Name, 1+rng.IntN(40), 0)
					b.audit()
				}
			}
			t.Logf("%d transfers acknowledged, none lost", len(b.acked))
		})
	}
}

// bank is the parent's view.
type bank struct {
	t     *testing.T
	dir   string
	mode  txn.Mode
	acked map[string]bool
}

// passes are the failpoints that this load reaches. The others are for txn.TestSteps.
func (b *bank) passes(step string) bool {
	switch step {
	case "undo", "notify", "handover", "oracle-range", "oracle-range-written", "resolve-primary", "resolve-back", "resolve-forward":
		return step == "notify" && b.mode == txn.TwoPhase
	case "commit-batch", "batch-committed":
		return b.mode == txn.OnePhase
	}
	return strings.HasPrefix(step, "group-") && b.mode == txn.OnePhase || !strings.HasPrefix(step, "group-") && b.mode == txn.TwoPhase
}

func (b *bank) deposit() {
	table, db, err := open(b.dir, b.mode, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = db.Run(context.Background(), func(tx *txn.Txn) error {
		for i := range accounts {
			tx.Set(account(i), balance, []byte(strconv.Itoa(total/accounts)))
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.closeAll(table, db)
}

func (b *bank) closeAll(table store.Table, db *txn.DB) {
	if err := db.Close(); err != nil {
		b.t.Error(err)
	}
	if err := table.Close(); err != nil {
		b.t.Error(err)
	}
}

func account(i int) string { return fmt.Sprintf("account%02d", i) }

// kill runs a child until it has acknowledged a number of transfers, and kills it; or
// until it kills itself at a step.
func (b *bank) kill(step string, nth, after int) {
	b.t.Helper()
	c := killtest.Start(b.t, killtest.Role(b.t, "bank", childDir+"="+b.dir,
		fmt.Sprint(childMode, "=", int(b.mode)), childStep+"="+step, fmt.Sprint(childNth, "=", nth)))
	n := 0
	for line := range c.Lines() {
		name, ok := strings.CutPrefix(line, "done ")
		if !ok {
			b.t.Errorf("the child says %q", line)
			continue
		}
		b.acked[name] = true
		if n++; n == after {
			c.Kill()
		}
	}
	if !c.Killed() {
		b.t.Fatalf("the child was to die at %q and ended by itself: %s", step, c.Failed())
	}
}

// audit is the next process.
func (b *bank) audit() {
	b.t.Helper()
	ctx := context.Background()
	table, db, err := open(b.dir, b.mode, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer b.closeAll(table, db)
	b.count(db)
	for range 1000 { // the observer continues where it was
		notes, _, err := db.Notifications(ctx, "", 0)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(notes) == 0 {
			break
		}
		for _, n := range notes {
			if err := observe(ctx, db, n); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	defer tx.Rollback()
	for i := range accounts {
		v, err := tx.Get(ctx, account(i), balance)
		if err != nil {
			b.t.Fatal(err)
		}
		s, err := tx.Get(ctx, account(i), seen)
		if err != nil || string(s.Data) != strconv.FormatUint(v.TS, 10) {
			b.t.Errorf("%s was written at %d; its observer saw %s, %v", account(i), v.TS, s.Data, err)
		}
	}
	if _, err := table.Scan(ctx, store.Range{Group: "~lock"}, func(c store.Cell) error {
		return fmt.Errorf("a lock stays in row %q", c.Row)
	}); err != nil {
		b.t.Error(err)
	}
}

// count adds up all balances in one snapshot, and so resolves every lock.
func (b *bank) count(db *txn.DB) {
	ctx := context.Background()
	tx, err := db.Begin(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	defer tx.Rollback()
	sum, entries := 0, make(map[string]int)
	err = tx.Scan(ctx, "app", "", "", func(row string, cols []txn.Version) error {
		for _, v := range cols {
			n, _ := strconv.Atoi(string(v.Data))
			switch v.Name {
			case balance.Name:
				sum += n
			case ledger.Name:
				entries[row] = n
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if sum != total {
		b.t.Errorf("the bank holds %d, not %d", sum, total)
	}
	for name := range b.acked {
		if _, there := entries[name]; !there {
			b.t.Errorf("%s was acknowledged and is lost", name)
		}
	}
}

// observe is a run of the observer: it notes which version of a balance it saw.
func observe(ctx context.Context, db *txn.DB, n txn.Notification) error {
	_, err := db.Run(ctx, func(tx *txn.Txn) error {
		ack, err := tx.Acknowledged(ctx, n.Cell, n.Observer)
		if err != nil {
			return err
		}
		v, err := tx.Get(ctx, n.Cell.Row, n.Cell.Column)
		if err != nil {
			return err
		}
		tx.AddTrigger(txn.Trigger{Cell: n.Cell, Observer: n.Observer, TS: n.TS, Strong: ack < n.TS})
		if ack < n.TS {
			tx.Set(n.Cell.Row, seen, []byte(strconv.FormatUint(v.TS, 10)))
		}
		return nil
	})
	return err
}
