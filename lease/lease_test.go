package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var counter = txn.Column{Group: "app", Name: "counter"}

// fleet is several processes on one table.
type fleet struct {
	t           *testing.T
	table       store.Table
	coordinator *sharedtest.Coordinator
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return &fleet{t, sharedtest.Table(t, txn.Groups("app", Group)), sharedtest.New()}
}

type member struct {
	*Manager
	process *sharedtest.Process
}

func (f *fleet) join(opts Options) *member {
	f.t.Helper()
	process := f.coordinator.Join()
	return f.joinAs(process, process, opts)
}

func (f *fleet) joinAs(process *sharedtest.Process, oracle txn.Timestamps, opts Options) *member {
	f.t.Helper()
	db, err := txn.Open(context.Background(), f.table, txn.Options{Coordination: &txn.Coordination{Timestamps: oracle, Liveness: process, RowLocks: process}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.t.Error(err)
		}
	})
	opts.Every = time.Millisecond
	opts.Failed = func(err error) { f.t.Log(err) }
	return &member{New(db, process, opts), process}
}

// waitFor waits until one of the members holds the lease.
func waitFor(t *testing.T, name string, list ...*member) *member {
	t.Helper()
	for {
		for _, m := range list {
			if m.Held(name) {
				return m
			}
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nobody took the lease")
		}
	}
}

// add is a run under a lease that writes the token of its process to a row.
func (m *member) add(row string, between func()) error {
	run, err := m.Enter(context.Background(), "x")
	if err != nil {
		return err
	}
	defer run.Leave()
	tx, err := m.db.Begin(context.Background())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := run.Guard(context.Background(), tx); err != nil {
		return err
	}
	tx.Set(row, counter, []byte(m.process.Token()))
	between()
	_, err = tx.Commit(context.Background())
	return err
}

// TestOneHolderAtATime: of several processes one gets a lease; when it gives the lease back,
// or dies, another gets it.
func TestOneHolderAtATime(t *testing.T) {
	f := newFleet(t)
	var list []*member
	for range 3 {
		m := f.join(Options{Wants: []Want{{Name: "x"}}})
		m.Start(t.Context())
		list = append(list, m)
	}
	for len(list) > 0 {
		m := waitFor(t, "x", list...)
		for _, other := range list {
			if other != m && other.Held("x") {
				t.Error("two processes hold the lease")
			}
		}
		held, err := List(t.Context(), f.table)
		if err != nil || held["x"].Token != m.process.Token() {
			t.Errorf("the table says that %v hold leases, %v; want %s", held, err, m.process.Token())
		}
		if len(list)%2 == 0 {
			m.process.Die()
		}
		if err := m.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if m.Held("x") {
			t.Error("it holds the lease after Stop")
		}
		for i := range list {
			if list[i] == m {
				list = append(list[:i:i], list[i+1:]...)
				break
			}
		}
	}
}

// TestFence: a run that began before the lease was taken away does not commit afterwards,
// wherever it was when the process was considered dead; and what commits is there before
// the next holder has the lease.
func TestFence(t *testing.T) {
	f := newFleet(t)
	old := f.join(Options{Wants: []Want{{Name: "x"}}})
	old.Start(t.Context())
	waitFor(t, "x", old)
	if err := old.add("before", func() {}); err != nil {
		t.Fatal(err)
	}
	next := f.join(Options{Wants: []Want{{Name: "x"}}})
	err := old.add("between", func() {
		// It is stopped here, others consider it dead and take the lease, and it
		// continues.
		old.process.Die()
		next.Start(t.Context())
		waitFor(t, "x", next)
	})
	if !errors.Is(err, txn.ErrConflict) {
		t.Errorf("the run of the old holder: %v, want a conflict", err)
	}
	if err := next.add("after", func() {}); err != nil {
		t.Error(err)
	}
	if _, err := old.Enter(t.Context(), "x"); old.Held("x") || err != nil && !errors.Is(err, notify.ErrNotHeld) {
		t.Errorf("the old holder: held %v, %v", old.Held("x"), err)
	}
	for _, m := range []*member{old, next} {
		if err := m.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestSilent: a process that cannot show signs of life for a while, and that no other finds
// dead, begins no run meanwhile. Then it continues with the lease that it has, without
// preparation.
func TestSilent(t *testing.T) {
	f := newFleet(t)
	rests, resumed, gained := make(chan error, 1), make(chan struct{}, 1), 0
	m := f.join(Options{
		Wants: []Want{{Name: "x", Gained: func(context.Context) error { gained++; return nil }}},
		Lost:  func(err error) { t.Errorf("it considers itself lost: %v", err) },
	})
	m.opts.Failed = func(err error) { rests <- err }
	m.opts.Resumed = func() { resumed <- struct{}{} }
	m.Start(t.Context())
	waitFor(t, "x", m)
	m.process.SetSilent(true)
	if m.Held("x") {
		t.Error("it may begin runs under the lease while it shows no signs of life")
	}
	if err := <-rests; !errors.Is(err, sharedtest.ErrSilent) {
		t.Error(err)
	}
	if err := m.add("meanwhile", func() {}); !errors.Is(err, txn.ErrConflict) {
		t.Errorf("a run meanwhile: %v, want a conflict", err)
	}
	if len(resumed) > 0 {
		t.Error("it has resumed before it can show signs of life")
	}
	m.process.SetSilent(false)
	waitFor(t, "x", m)
	<-resumed
	if err := m.add("afterwards", func() {}); err != nil {
		t.Error(err)
	}
	if err := m.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if gained != 1 {
		t.Errorf("it gained the lease %d times", gained)
	}
}

// TestGainedComesFirst: no run begins before the preparation has succeeded, which is tried
// again, by this process or another one.
func TestGainedComesFirst(t *testing.T) {
	f := newFleet(t)
	var m *member
	tries := 0
	m = f.join(Options{Wants: []Want{{Name: "x", Gained: func(context.Context) error {
		if m.Held("x") {
			t.Error("it holds the lease before it is prepared")
		}
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	}}}})
	m.Start(t.Context())
	waitFor(t, "x", m)
	if tries != 3 {
		t.Errorf("%d tries, want 3", tries)
	}
	if err := m.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFencedRuns: holders come and go, and run all the time. Every run that commits does so
// under the lease: commits of different holders never alternate.
func TestFencedRuns(t *testing.T) {
	rng := testenv.Random(t)
	f := newFleet(t)
	var work sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	begin := func() *member {
		m := f.join(Options{Wants: []Want{{Name: "x"}}})
		m.Start(ctx)
		for i := range 3 {
			work.Go(func() {
				for n := 0; ctx.Err() == nil && m.process.Valid() == nil; n++ {
					_ = m.add(fmt.Sprint(m.process.Token(), " ", i, " ", n), func() {}) // refused is fine
				}
			})
		}
		return m
	}
	all := []*member{begin(), begin()}
	for range testenv.Size(5, 10, 100) {
		m := waitFor(t, "x", all...)
		all = append(all, begin())
		if rng.IntN(2) == 0 {
			m.process.Die()
		}
		if m.process.Valid() != nil {
			continue
		}
		err := m.add("one "+m.process.Token(), func() {})
		if err != nil && !errors.Is(err, txn.ErrConflict) && !errors.Is(err, notify.ErrNotHeld) {
			t.Fatal(err)
		}
		m.process.Die()
	}
	stop()
	work.Wait()
	for _, m := range all {
		if err := m.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	f.wantInTurn()
}

// wantInTurn reads from the table when each process committed under the lease.
func (f *fleet) wantInTurn() {
	m := f.join(Options{})
	tx, err := m.db.Begin(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	defer tx.Rollback()
	type span struct{ first, last uint64 }
	spans := make(map[string]span)
	err = tx.Scan(context.Background(), "app", "", "", func(_ string, cols []txn.Version) error {
		token := string(cols[0].Data)
		s, known := spans[token]
		ts := cols[0].TS
		if !known || ts < s.first {
			s.first = ts
		}
		s.last = max(s.last, ts)
		spans[token] = s
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Logf("%d processes committed", len(spans))
	for a, s := range spans {
		for b, o := range spans {
			if a != b && s.first < o.first && o.first < s.last {
				f.t.Errorf("%s committed from %d to %d, and %s at %d", a, s.first, s.last, b, o.first)
			}
		}
	}
}

// TestHaltWaitsForGained: Halt comes before closing what Gained opens, so it waits for
// Gained.
func TestHaltWaitsForGained(t *testing.T) {
	f := newFleet(t)
	preparing, ended := make(chan struct{}), false
	m := f.join(Options{Wants: []Want{{Name: "x", Gained: func(ctx context.Context) error {
		close(preparing)
		<-ctx.Done()
		ended = true
		return context.Cause(ctx)
	}}}})
	m.Start(context.Background())
	<-preparing
	m.Halt()
	if !ended {
		t.Error("Halt returned while a lease was being prepared")
	}
	if err := m.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestSilentWhileWaiting: a process that waits for something while it looks for leases, as for
// an oracle that does not answer, notices at once that it has become invalid.
func TestSilentWhileWaiting(t *testing.T) {
	f := newFleet(t)
	waiting, rests := make(chan struct{}), make(chan error, 1)
	tries := 0
	m := f.join(Options{Wants: []Want{{Name: "x", Gained: func(ctx context.Context) error {
		if tries++; tries > 1 {
			return nil
		}
		close(waiting)
		<-ctx.Done()
		return context.Cause(ctx)
	}}}})
	m.opts.Failed = func(err error) { rests <- err }
	m.Start(t.Context())
	<-waiting
	m.process.SetSilent(true)
	if err := <-rests; !errors.Is(err, sharedtest.ErrSilent) {
		t.Error(err)
	}
	m.process.SetSilent(false)
	waitFor(t, "x", m)
	if err := m.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// silent hands out timestamps until it is away.
type silent struct {
	txn.Timestamps
	away atomic.Bool
}

func (s *silent) Next(ctx context.Context) (uint64, error) {
	if s.away.Load() {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	return s.Timestamps.Next(ctx)
}

func (s *silent) Last(ctx context.Context) (uint64, error) {
	if s.away.Load() {
		return s.Next(ctx)
	}
	return s.Timestamps.Last(ctx)
}

// TestStopWithoutOracle: a process that cannot give its leases back, because no oracle
// answers, stops all the same, and others take the leases when its token has expired.
func TestStopWithoutOracle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		process := f.coordinator.Join()
		oracle := &silent{Timestamps: process}
		wants := []Want{{Name: "x"}, {Name: "y"}, {Name: "z"}}
		m := f.joinAs(process, oracle, Options{Wants: wants})
		m.Start(t.Context())
		for _, w := range wants {
			waitFor(t, w.Name, m)
		}
		m.Halt()
		oracle.away.Store(true)
		begun := time.Now()
		if err := m.Stop(t.Context()); !errors.Is(err, errStopped) {
			t.Errorf("Stop returned %v", err)
		}
		if took := time.Since(begun); took != stopWithin {
			t.Errorf("Stop took %v by the clock of the test, want %v", took, stopWithin)
		}
		process.Die()
		next := f.join(Options{Wants: wants})
		next.Start(t.Context())
		waitFor(t, "z", next)
		if err := next.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
