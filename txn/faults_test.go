package txn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
)

// TestFaults runs one scenario again and again, each time with the next operation on
// the table failing, until each has failed once. In every case: a transaction is there
// as a whole or not at all; it is there if its commit succeeded, and not there if it
// failed for a known reason; no snapshot ever shows another state; no notification is
// lost; and no lock stays.
func TestFaults(t *testing.T) {
	plans := []faulty.Plan{
		{Fault: faulty.Fail}, {Fault: faulty.Lost},
		{Fault: faulty.Full, Kinds: faulty.Writes},           // the disk is full for a moment
		{Fault: faulty.Full, Kinds: faulty.Writes, Every: 1}, // from then on
	}
	for after := 1; after <= 6; after++ {
		plans = append(plans, faulty.Plan{Fault: faulty.Late, After: after})
	}
	for _, m := range modes {
		for _, plan := range plans {
			t.Run(fmt.Sprintf("%s/%s%d", m.name, plan.Fault, plan.After+plan.Every), func(t *testing.T) {
				for met := true; met && !t.Failed(); {
					plan.N++
					synctest.Test(t, func(t *testing.T) { met = runFaults(t, m.mode, plan) })
				}
				t.Logf("%d operations", plan.N-1)
				if plan.N < 20 && plan.Kinds == 0 || plan.N < 8 {
					t.Errorf("the scenario has only %d operations", plan.N)
				}
			})
		}
	}
}

const faultsSum = 100

// faults is one run of the scenario.
type faults struct {
	t       *testing.T
	plan    faulty.Plan
	outcome map[string]error // of each transfer
}

func runFaults(t *testing.T, mode Mode, plan faulty.Plan) (met bool) {
	inner := openMem(t, Groups("app"))
	f := &faults{t: t, plan: plan, outcome: make(map[string]error)}
	opts := Options{Mode: mode, Observers: func(c Column) []string {
		if c.Name == "balance" {
			return []string{"observer"}
		}
		return nil
	}}
	db := open(t, inner, opts)
	_, err := db.Run(context.Background(), func(tx *Txn) error {
		tx.Set("alice", app("balance"), []byte(strconv.Itoa(faultsSum)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	table, probe := faulty.Wrap(inner, plan)
	if faultyDB, err := Open(context.Background(), table, opts); err == nil {
		f.scenario(faultyDB)
		if err := faultyDB.Close(); err != nil {
			t.Error(err)
		}
	} else if !errors.Is(err, faulty.ErrInjected) {
		t.Error(err)
	}
	// What was held back happens before the next process looks.
	for range plan.After {
		_, _ = table.Read(context.Background(), nil)
	}
	// One fault must not leave a lock that others wait for until it is old.
	if took := time.Since(began); took > db.opts.LockTTL && plan.Every == 0 {
		t.Errorf("%+v: the scenario took %v", plan, took)
	}
	db = open(t, inner, opts)
	f.check(db, true)
	f.noLocks(inner)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	closeTable(t, table)
	return probe.Met()
}

// scenario makes transfers, reads in between, and answers notifications. Long
// notes make the two-phase protocol use data cells.
func (f *faults) scenario(db *DB) {
	f.transfer(db, "t1", "alice", "bob", 30)
	f.check(db, false)
	f.observe(db)
	f.transfer(db, "t2", "bob", "carol", 10)
	f.observe(db)
	f.transfer(db, "t3", "carol", "alice", 5)
	f.check(db, false)
}

func (f *faults) transfer(db *DB, name, from, to string, amount int) {
	ctx := context.Background()
	_, err := db.Run(ctx, func(tx *Txn) error {
		for i, account := range []string{from, to} {
			v, err := tx.Get(ctx, account, app("balance"))
			if err != nil {
				return err
			}
			n, _ := strconv.Atoi(string(v.Data))
			tx.Set(account, app("balance"), []byte(strconv.Itoa(n+amount*(2*i-1))))
		}
		tx.Set("zz"+name, app("note"), make([]byte, 2*inlineLimit))
		return nil
	})
	f.tolerate(err)
	f.outcome["zz"+name] = err
}

// observe runs the observer once on all that it finds.
func (f *faults) observe(db *DB) {
	ctx := context.Background()
	notes, _, err := db.Notifications(ctx, "", 0)
	f.tolerate(err)
	_, err = db.Run(ctx, func(tx *Txn) error {
		for _, n := range notes {
			ack, err := tx.Acknowledged(ctx, n.Cell, n.Observer)
			if err != nil {
				return err
			}
			if _, err := tx.Get(ctx, n.Cell.Row, n.Cell.Column); err != nil {
				return err
			}
			tx.AddTrigger(Trigger{Cell: n.Cell, Observer: n.Observer, TS: n.TS, Strong: ack < n.TS})
			tx.Set("yy"+n.Cell.Row, app("seen"), []byte(strconv.FormatUint(tx.Start(), 10)))
		}
		return nil
	})
	f.tolerate(err)
}

func (f *faults) tolerate(err error) {
	if err != nil && !errors.Is(err, faulty.ErrInjected) && !errors.Is(err, ErrUnknown) {
		f.t.Errorf("%+v: %v", f.plan, err)
	}
}

// check reads everything in one snapshot. Only at the end is no write under way, so
// only then can no failed transfer be there.
func (f *faults) check(db *DB, end bool) {
	ctx := context.Background()
	tx := mustBeginOr(f, db)
	if tx == nil {
		return
	}
	defer tx.Rollback()
	sum := 0
	there := make(map[string]bool)
	balances := make(map[string]Value)
	seen := make(map[string]uint64)
	err := tx.Scan(ctx, "app", "", "", func(row string, cols []Version) error {
		n, _ := strconv.Atoi(string(cols[0].Data))
		switch cols[0].Name {
		case "balance":
			sum += n
			balances[row] = cols[0].Value
		case "note":
			there[row] = true
		case "seen":
			seen[row] = uint64(n)
		}
		return nil
	})
	if err != nil {
		f.tolerate(err)
		return
	}
	if sum != faultsSum {
		f.t.Errorf("%+v: the sum is %d", f.plan, sum)
	}
	for name, err := range f.outcome {
		unknown := errors.Is(err, ErrUnknown)
		if err == nil && !there[name] || err != nil && !unknown && there[name] {
			f.t.Errorf("%+v: %s is there: %v; its commit said: %v", f.plan, name, there[name], err)
		}
	}
	if end {
		f.checkNotifications(db, balances, seen)
	}
}

func mustBeginOr(f *faults, db *DB) *Txn {
	tx, err := db.Begin(context.Background())
	f.tolerate(err)
	return tx
}

// checkNotifications: a balance that was written after its observer's last run
// has a notification.
func (f *faults) checkNotifications(db *DB, balances map[string]Value, seen map[string]uint64) {
	notes, _, err := db.Notifications(context.Background(), "", 0)
	if err != nil {
		f.t.Error(err)
	}
	waiting := make(map[string]uint64)
	for _, n := range notes {
		waiting[n.Cell.Row] = n.TS
	}
	for row, v := range balances {
		if v.TS > seen["yy"+row] && waiting[row] < v.TS {
			f.t.Errorf("%+v: %s was written at %d, seen at %d, and its notification is at %d", f.plan, row, v.TS, seen["yy"+row], waiting[row])
		}
	}
}

// noLocks: the check has read every cell, so every lock was found and resolved, except
// those on cells that are only triggers.
func (f *faults) noLocks(table store.Table) {
	_, err := table.Scan(context.Background(), store.Range{Group: lockGroup}, func(c store.Cell) error {
		l, err := decodeLock(c)
		f.t.Errorf("%+v: a lock stays in row %q: %+v, %v", f.plan, c.Row, l, err)
		return nil
	})
	if err != nil {
		f.t.Error(err)
	}
}
