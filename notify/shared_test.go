package notify

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// fleet is several processes on one table.
type fleet struct {
	t           testing.TB
	table       store.Table
	coordinator *sharedtest.Coordinator
	runs        *tally
	leader      atomic.Pointer[sharedtest.Process] // who holds the lease
	before      func(rows []string) error          // called by each run of first and second; may be nil
	absent      *sync.WaitGroup                    // processes whose first run all others wait for; may be nil

	entered, guarded, left atomic.Int64 // of runs under the lease
}

func newFleet(t testing.TB) *fleet {
	t.Helper()
	return &fleet{t: t, table: sharedtest.Table(t, groups), coordinator: sharedtest.New(), runs: &tally{n: make(map[string]int)}}
}

// tally counts committed runs by observer and row.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(a Attempt) {
	if a.Commit == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range a.Rows {
		c.n[a.Observer+" "+row]++
	}
}

// leads holds the lease while its process is the leader.
type leads struct {
	f  *fleet
	me *sharedtest.Process
}

func (l leads) Held(string) bool { return l.f.leader.Load() == l.me }

func (l leads) Enter(context.Context, string) (LeasedRun, error) {
	if !l.Held("") {
		return nil, ErrNotHeld
	}
	l.f.entered.Add(1)
	return l, nil
}

func (l leads) Guard(context.Context, *txn.Txn) error {
	l.f.guarded.Add(1)
	return nil
}

func (l leads) Leave() { l.f.left.Add(1) }

// observers: first copies a to b, second copies b to c and wakes sum, which adds up.
func (f *fleet) observers() []Observer {
	var once sync.Once
	arrive := func() {
		if f.absent != nil {
			once.Do(f.absent.Done)
			f.absent.Wait()
		}
	}
	copyTo := func(from, to string) func(context.Context, *txn.Txn, []string) error {
		return func(ctx context.Context, tx *txn.Txn, rows []string) error {
			arrive()
			if f.before != nil {
				if err := f.before(rows); err != nil {
					return err
				}
			}
			for _, row := range rows {
				v, err := tx.Get(ctx, row, col(from))
				if err != nil {
					return err
				}
				tx.Set(row, col(to), v.Data)
				if to == "c" {
					tx.Notify("sum", col("sum"))
				}
			}
			return nil
		}
	}
	return []Observer{
		{Name: "first", Watches: col("a"), Batch: 4, Run: copyTo("a", "b")},
		{Name: "second", Watches: col("b"), Batch: 4, Upstream: []string{"first"}, Run: copyTo("b", "c")},
		{Name: "sum", Watches: col("sum"), Weak: true, Lease: "sum", Debounce: time.Hour, Upstream: []string{"second"}, Run: f.sum},
	}
}

func (f *fleet) sum(ctx context.Context, tx *txn.Txn, _ []string) error {
	total := 0
	err := tx.ScanPrefix(ctx, "app", "row ", func(_ string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name == "c" {
				n, err := strconv.Atoi(string(c.Data))
				total += n
				return err
			}
		}
		return nil
	})
	tx.Set("sum", col("total"), []byte(strconv.Itoa(total)))
	return err
}

// member is one process of a fleet.
type member struct {
	*rig
	process *sharedtest.Process
}

// join adds a process. Without workers it only loads. It then mistakes every other notification for
// one of an observer with a lease, whatever the observer: its settings or its version are not those
// of the others.
func (f *fleet) join(workers int) *member {
	f.t.Helper()
	registry, err := NewRegistry(f.observers()...)
	if err != nil {
		f.t.Fatal(err)
	}
	process := f.coordinator.Join()
	p := New(registry, Options{Workers: workers, Backlog: 50, Attempts: 2, Leases: leads{f, process}, Events: Events{Tried: f.runs.add}})
	opts := txn.Options{Observers: registry.Observers, Handover: p.Handover, Coordination: &txn.Coordination{Timestamps: process, Liveness: process, RowLocks: process}}
	if opts.Leased = registry.Leased; workers == 0 {
		var sent atomic.Int64
		opts.Leased = func(string) bool { return sent.Add(1)%2 == 0 }
	}
	db, err := txn.Open(context.Background(), f.table, opts)
	if err != nil {
		f.t.Fatal(err)
	}
	m := &member{&rig{f.t, db, p, f.table}, process}
	if workers > 0 {
		m.start()
	} else if err := p.Attach(context.Background(), db); err != nil {
		f.t.Fatal(err)
	}
	return m
}

// load writes some rows, as a loader does.
func (m *member) load(from, to int) {
	m.t.Helper()
	for i := from; i < to; i++ {
		if err := m.p.Admit(context.Background()); err != nil {
			m.t.Fatal(err)
		}
		m.set(fmt.Sprintf("row %d", i), "a", strconv.Itoa(i))
	}
}

func (m *member) wantTotal(rows int) {
	m.t.Helper()
	m.quiesce()
	tx, err := m.db.Begin(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	defer tx.Rollback()
	v, err := tx.Get(context.Background(), "sum", col("total"))
	if err != nil {
		m.t.Fatal(err)
	}
	if want := strconv.Itoa(rows * (rows - 1) / 2); string(v.Data) != want {
		m.t.Errorf("the total is %s, want %s", v.Data, want)
	}
}

// TestProcessesShareWork: a process loads, others run the observers, one of them the leased
// one. Nothing is lost, no strong observer commits twice for a change, and all of them do
// some of the work.
func TestProcessesShareWork(t *testing.T) {
	f := newFleet(t)
	rows := testenv.Size(100, 300, 3000)
	f.absent = new(sync.WaitGroup)
	f.absent.Add(3)
	loader := f.join(0)
	var workers []*member
	for range 3 {
		workers = append(workers, f.join(2))
	}
	f.leader.Store(workers[1].process)
	loader.load(0, rows)
	loader.wantTotal(rows)
	for _, m := range workers {
		if n := m.p.Stats()[0].Rows; n == 0 {
			t.Errorf("%s has done nothing", m.process.Token())
		}
		m.close()
	}
	loader.close()
	f.runs.mu.Lock()
	defer f.runs.mu.Unlock()
	for _, observer := range []string{"first", "second"} {
		for i := range rows {
			if n := f.runs.n[fmt.Sprintf("%s row %d", observer, i)]; n != 1 {
				t.Errorf("%s committed %d times for row %d", observer, n, i)
			}
		}
	}
	if n := f.coordinator.Locked(); n != 0 {
		t.Errorf("%d rows are still locked", n)
	}
	if e, g, l := f.entered.Load(), f.guarded.Load(), f.left.Load(); g == 0 || g > e || e != l {
		t.Errorf("%d runs entered under the lease, %d were guarded, %d left", e, g, l)
	}
	t.Logf("processes met %d times", f.coordinator.Met())
}

// TestProcessesComeAndGo: processes join and leave while there is work, and the lease goes
// from one to the other.
func TestProcessesComeAndGo(t *testing.T) {
	f := newFleet(t)
	rows := testenv.Size(100, 300, 3000)
	loader := f.join(0)
	workers := []*member{f.join(1), f.join(2)}
	for part := range 5 {
		loader.load(part*rows/5, (part+1)*rows/5)
		f.leader.Store(workers[len(workers)-1].process)
		if part%2 == 0 {
			workers = append(workers, f.join(2))
			continue
		}
		workers[0].close() // leaves while others continue
		workers = workers[1:]
	}
	loader.wantTotal(rows)
	for _, m := range append(workers, loader) {
		m.close()
	}
	if n := f.coordinator.Locked(); n != 0 {
		t.Errorf("%d rows are still locked", n)
	}
}

// TestAdmitCountsTheTable: without workers, a loader stops when the backlog is full.
func TestAdmitCountsTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		loader := f.join(0)
		loader.load(0, 50)
		admitted := make(chan error, 1)
		go func() { admitted <- loader.p.Admit(t.Context()) }()
		time.Sleep(time.Minute)
		if len(admitted) > 0 {
			t.Error("admitted although the backlog is full")
		}
		worker := f.join(1)
		if err := <-admitted; err != nil {
			t.Error(err)
		}
		worker.close()
		loader.close()
	})
}

// TestQuiesceSeesOtherProcesses: work is not done while another process is in the middle of
// a commit, or while there is work of a lease without a holder.
func TestQuiesceSeesOtherProcesses(t *testing.T) {
	f := newFleet(t)
	loader, worker := f.join(0), f.join(1)
	loader.load(0, 10)
	if _, ok, err := loader.db.Quiescent(t.Context()); err != nil || ok {
		t.Errorf("quiescent with rows that wait: %v, %v", ok, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		loader.wantTotal(10)
	}()
	f.leader.Store(worker.process)
	<-done
	worker.close()
	loader.close()
}

// TestIdleTakesNoTimestamps: processes with nothing to do take no timestamps. Otherwise many
// of them would keep each other from finding that all work is done.
func TestIdleTakesNoTimestamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		worker, other := f.join(1), f.join(1)
		f.leader.Store(worker.process)
		worker.load(0, 3)
		worker.quiesce()
		before, err := worker.db.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if after, err := other.db.Now(t.Context()); err != nil || after != before {
			t.Errorf("the last timestamp was %d, and %d after a minute without work: %v", before, after, err)
		}
		worker.close()
		other.close()
	})
}

// TestRetryAnywhere: a dead letter is retried by whichever process finds it.
func TestRetryAnywhere(t *testing.T) {
	f := newFleet(t)
	loader, worker := f.join(0), f.join(1)
	f.leader.Store(worker.process)
	worker.set("row x", "a", "no number") // sum cannot add it up
	worker.set("row 0", "a", "0")
	for len(letters(t, loader)) == 0 {
		if err := sleep.For(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	worker.set("row x", "a", "0")
	loader.quiesce()
	for _, l := range letters(t, loader) {
		if err := loader.p.Retry(t.Context(), l.Observer, l.Row); err != nil {
			t.Fatal(err)
		}
	}
	loader.wantTotal(1)
	if n := len(letters(t, loader)); n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
	worker.close()
	loader.close()
}

func letters(t *testing.T, m *member) []DeadLetter {
	t.Helper()
	list, err := DeadLetters(t.Context(), m.db)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestTroubleMakesNoDeadLetters: failures while the store is down are not the fault of the row.
func TestTroubleMakesNoDeadLetters(t *testing.T) {
	f := newFleet(t)
	var failures atomic.Int64
	f.before = func([]string) error {
		if failures.Add(1) <= 3 { // two are enough for a dead letter otherwise
			return errors.New("the store is down")
		}
		return nil
	}
	worker := f.join(1)
	f.leader.Store(worker.process)
	worker.p.noteStoreFailure(errors.New("the store is down"))
	worker.set("row 0", "a", "0")
	worker.wantTotal(1)
	if n := len(letters(t, worker)); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	worker.close()
}

// takenLocks are advisory locks that others hold, the first few times that they are requested.
type takenLocks struct {
	txn.RowLocks
	times int
}

func (l *takenLocks) TryLock(ctx context.Context, rows []string) ([]bool, error) {
	if l.times--; l.times >= 0 {
		return make([]bool, len(rows)), nil
	}
	return l.RowLocks.TryLock(ctx, rows)
}

// TestJumps: a worker that meets another one and gets no row tries other places, a few
// times.
func TestJumps(t *testing.T) {
	for times, finds := range map[int]bool{0: true, randomJumps - 1: true, randomJumps: false} {
		f := newFleet(t)
		m := f.join(0)
		m.load(0, 20)
		m.p.queue.mu.Lock()
		m.p.queue.wanted = 1
		m.p.queue.mu.Unlock()
		m.p.shared.locks = &takenLocks{m.p.shared.locks, times}
		if found, _, err := m.p.scanRandomPlaces(t.Context()); err != nil || (found > 0) != finds {
			t.Errorf("after meeting others %d times, %d rows are found, %v", times, found, err)
		}
		m.close()
	}
}
