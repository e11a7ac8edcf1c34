package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/txn"
)

// wantHolder checks whom the table names as the holder of a lease; "" means nobody.
func (f *fleet) wantHolder(name, token string) {
	f.t.Helper()
	if list, err := List(f.t.Context(), f.table); err != nil || list[name].Token != token {
		f.t.Errorf("%q holds the lease %s, %v; want %q", list[name].Token, name, err, token)
	}
}

// interrupted is a process to which something happens when it names itself.
type interrupted struct {
	*sharedtest.Process
	happens func()
}

func (p *interrupted) Token() string {
	if happens := p.happens; happens != nil {
		p.happens = nil
		happens()
	}
	return p.Process.Token()
}

// TestTakeAtOnce: of two processes that find a lease free at the same time, one gets it.
func TestTakeAtOnce(t *testing.T) {
	f := newFleet(t)
	slow, fast := f.join(Options{}), f.join(Options{})
	slow.live = &interrupted{slow.process, func() { // between its look and its transaction
		if held, err := fast.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
			t.Error(held, err)
		}
	}}
	if held, err := slow.Take(t.Context(), Want{Name: "x"}); err != nil || held {
		t.Errorf("the slow process: held %t, %v", held, err)
	}
	f.wantHolder("x", fast.process.Token())
}

// TestAllFences: as many runs as there are fences can be under way, and commit.
func TestAllFences(t *testing.T) {
	m := newFleet(t).join(Options{})
	if held, err := m.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
		t.Fatal(held, err)
	}
	for i := range fences {
		run, err := m.Enter(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.db.Run(t.Context(), func(tx *txn.Txn) error { return run.Guard(t.Context(), tx) }); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
}

// TestGivesBackUnprepared: a process that cannot prepare for a lease gives it back, even if its search
// for leases ends meanwhile. Others would not take the lease, because its holder is alive.
func TestGivesBackUnprepared(t *testing.T) {
	f := newFleet(t)
	m := f.join(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	held, err := m.Take(ctx, Want{Name: "x", Gained: func(context.Context) error {
		f.wantHolder("x", m.process.Token())
		cancel()
		return context.Canceled
	}})
	if held || !errors.Is(err, context.Canceled) {
		t.Errorf("held %t, %v", held, err)
	}
	f.wantHolder("x", "")
}

// TestLose: a process that others have found dead keeps no lease.
func TestLose(t *testing.T) {
	var lost error
	m := newFleet(t).join(Options{Lost: func(err error) { lost = err }})
	if held, err := m.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
		t.Fatal(held, err)
	}
	m.lose(sharedtest.ErrDead)
	if m.Keeps("x") || !errors.Is(lost, sharedtest.ErrDead) {
		t.Errorf("it keeps the lease: %t; it is lost: %v", m.Keeps("x"), lost)
	}
}

// TestAskOfTheDead: a dead holder does no task.
func TestAskOfTheDead(t *testing.T) {
	f := newFleet(t)
	holder, asker := f.join(Options{}), f.join(Options{})
	if held, err := holder.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
		t.Fatal(held, err)
	}
	holder.process.Die()
	if _, err := asker.ask(t.Context(), Question{Wait: time.Millisecond}); !errors.Is(err, ErrNobody) {
		t.Error(err)
	}
}

// TestDrain: a drain turns away the runs that wait, and returns when the last run that is under way
// has ended.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFleet(t).join(Options{})
		if held, err := m.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
			t.Fatal(held, err)
		}
		var runs []notify.LeasedRun
		for range fences {
			run, err := m.Enter(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waiting, drained := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := m.Enter(ctx, "x")
			waiting <- err
		}()
		synctest.Wait()
		go func() { drained <- m.drain(t.Context(), "x") }()
		synctest.Wait()
		cancel()
		if err := <-waiting; !errors.Is(err, notify.ErrNotHeld) {
			t.Errorf("the run that waited: %v, want %v", err, notify.ErrNotHeld)
		}
		for _, run := range runs {
			synctest.Wait()
			if len(drained) > 0 {
				t.Fatal("drained while a run is under way")
			}
			run.Leave()
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// TestOnlyUnpreparedShares: a process that could not prepare for one lease keeps those under which it
// works. One that has a lease according to the table, and does not work under it, prepares for it.
func TestOnlyUnpreparedShares(t *testing.T) {
	f := newFleet(t)
	b := &Balanced{Group: "s", Wants: []Want{
		{Name: "s0"}, {Name: "s1", Gained: func(context.Context) error { return errors.New("no room") }},
	}}
	m := f.join(Options{Balanced: b})
	if taken, err := m.take(t.Context(), "s0"); err != nil || !taken { // and the process learns nothing of it
		t.Fatal(taken, err)
	}
	if err := f.join(Options{}).offer(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	if taken, err := f.join(Options{}).take(t.Context(), "s1"); err != nil || !taken {
		t.Fatal(taken, err)
	}
	if err := m.balance(t.Context(), b); err != nil || !m.Keeps("s0") {
		t.Fatalf("it works under the lease that it has: %t, %v", m.Keeps("s0"), err)
	}
	m.benched = 1
	if err := m.balance(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	f.wantHolder("s0", m.process.Token())
}

// stubborn is a process that never learns that others have found it dead.
type stubborn struct{ *sharedtest.Process }

func (stubborn) Valid() error { return nil }

func (stubborn) FoundDead(context.Context) error { return nil }

// TestFenceAlone: a former holder that knows nothing of its end, because its clock stood still, does
// not commit, wherever it was in its run when another process took the lease.
func TestFenceAlone(t *testing.T) {
	for _, before := range []bool{true, false} {
		f := newFleet(t)
		process := stubborn{f.coordinator.Join()}
		db, err := txn.Open(t.Context(), f.table, txn.Options{Coordination: &txn.Coordination{Timestamps: process, Liveness: process, RowLocks: process}})
		if err != nil {
			t.Fatal(err)
		}
		old := &member{New(db, process, Options{}), process.Process}
		next := f.join(Options{})
		if held, err := old.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
			t.Fatal(held, err)
		}
		take := func() {
			process.Die()
			if held, err := next.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
				t.Fatal(held, err)
			}
		}
		want := txn.ErrConflict
		if before {
			take()
			want, take = notify.ErrNotHeld, func() {}
		}
		if err := old.add("row", take); !errors.Is(err, want) {
			t.Errorf("taken before the run: %t: %v, want %v", before, err, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
