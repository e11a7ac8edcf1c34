package txn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// sharedTable is a table that several DBs open.
func sharedTable(t *testing.T) store.Table {
	t.Helper()
	return sharedtest.Table(t, Groups("app"))
}

func coordination(p *sharedtest.Process) *Coordination {
	return &Coordination{Timestamps: p, Liveness: p}
}

func openShared(t *testing.T, table store.Table, coordinator *sharedtest.Coordinator, opts Options) (*DB, *sharedtest.Process) {
	t.Helper()
	process := coordinator.Join()
	opts.Coordination = coordination(process)
	db := open(t, table, opts)
	testenv.CloseAtEnd(t, db)
	return db, process
}

func TestProcessesSeeEachOther(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	a, _ := openShared(t, table, coordinator, Options{})
	b, _ := openShared(t, table, coordinator, Options{})
	ctx := context.Background()
	commit, err := a.Run(ctx, func(tx *Txn) error { tx.Set("row", app("c"), []byte("of a")); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if b.LastTimestamp() >= commit {
		t.Error("the second process knows of a timestamp that nobody has told it")
	}
	now, err := b.Now(ctx)
	if err != nil || now < commit || b.LastTimestamp() != now {
		t.Errorf("Now is %d, %v after a commit at %d; LastTimestamp %d", now, err, commit, b.LastTimestamp())
	}
	for name, tx := range map[string]*Txn{"At": b.At(now), "Begin": mustBegin(t, b)} {
		if v, err := tx.Get(ctx, "row", app("c")); err != nil || string(v.Data) != "of a" {
			t.Errorf("%s: %q, %v", name, v.Data, err)
		}
		tx.Rollback()
	}
	if a.Began() == a.Ceiling() || a.Began() == b.Ceiling() {
		t.Error("a process that shares its table seems to be the only one")
	}
	if !a.Shared() || a.Mode() != TwoPhase {
		t.Error("the mode of a shared table is", a.Mode())
	}
}

// unreliable is an oracle that sometimes does not answer. What it returns with an error is
// not a timestamp: the client in package oracle/remote returns the greatest number.
type unreliable struct {
	Timestamps
	down error
}

func (u *unreliable) Next(ctx context.Context) (uint64, error) {
	return u.answer(u.Timestamps.Next(ctx))
}
func (u *unreliable) Last(ctx context.Context) (uint64, error) {
	return u.answer(u.Timestamps.Last(ctx))
}

func (u *unreliable) answer(ts uint64, err error) (uint64, error) {
	if u.down != nil {
		return math.MaxUint64, u.down
	}
	return ts, err
}

// TestLastTimestampOfAnOracleThatIsDown: the history would take the number for the newest
// timestamp, and store it.
func TestLastTimestampOfAnOracleThatIsDown(t *testing.T) {
	c := coordination(sharedtest.New().Join())
	u := &unreliable{Timestamps: c.Timestamps}
	c.Timestamps = u
	db := open(t, sharedTable(t), Options{Coordination: c})
	before := db.LastTimestamp()
	u.down = errors.New("no answer")
	if _, err := db.Now(t.Context()); !errors.Is(err, u.down) {
		t.Errorf("Now: %v", err)
	}
	if _, err := db.Begin(t.Context()); !errors.Is(err, u.down) {
		t.Errorf("Begin: %v", err)
	}
	if after := db.LastTimestamp(); after != before {
		t.Errorf("the last timestamp was %d, and is %d without a new one", before, after)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestSharedTableCommitsInTwoPhases(t *testing.T) {
	table, err := mem.New(Groups("app"), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTable(t, table)
	c := coordination(sharedtest.New().Join())
	if _, err := Open(context.Background(), table, Options{Mode: OnePhase, Coordination: c}); err == nil {
		t.Error("opened for commits in one phase")
	}
	db := open(t, table, Options{Coordination: c})
	if db.Mode() != TwoPhase {
		t.Error("auto chose the mode", db.Mode())
	}
	if _, err := db.Run(context.Background(), func(tx *Txn) error { tx.Set("row", app("c"), nil); return nil }); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestLockOfADeadProcess: a lock is taken at once from a process that is known to be dead,
// and otherwise only after its time to live.
func TestLockOfADeadProcess(t *testing.T) {
	for _, tc := range []struct {
		name string
		die  bool
		down error
		ttl  time.Duration
		want bool
	}{
		{"dead", true, nil, time.Hour, true},
		{"alive", false, nil, time.Hour, false},
		{"alive and stuck", false, nil, time.Nanosecond, true},
		{"nobody knows", true, errors.New("the lock service is away"), time.Hour, false},
		{"nobody knows, and stuck", false, errors.New("the lock service is away"), time.Nanosecond, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, coordinator := sharedTable(t), sharedtest.New()
			crash := func(step string, _ Cell) error {
				if step == stepCommitTS {
					return ErrCrash
				}
				return nil
			}
			a, process := openShared(t, table, coordinator, Options{Step: crash})
			b, _ := openShared(t, table, coordinator, Options{LockTTL: tc.ttl})
			tx := mustBegin(t, a)
			tx.Set("row", app("c"), nil)
			if _, err := tx.Commit(context.Background()); !errors.Is(err, ErrCrash) {
				t.Fatal(err)
			}
			if tc.die {
				process.Die()
			}
			coordinator.SetDown(tc.down)
			if n, err := b.ResolveAbandoned(context.Background()); err != nil || (n == 1) != tc.want {
				t.Errorf("resolved %d locks, %v; want one: %v", n, err, tc.want)
			}
		})
	}
}

// TestDeathWhileUndoing: a process that dies while it takes back its locks after a conflict does
// not begin again, although Run repeats transactions after conflicts.
func TestDeathWhileUndoing(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	other, _ := openShared(t, table, coordinator, Options{})
	db, _ := openShared(t, table, coordinator, Options{Step: func(step string, _ Cell) error {
		if step == stepUndo {
			return ErrCrash
		}
		return nil
	}})
	ctx, runs := context.Background(), 0
	_, err := db.Run(ctx, func(tx *Txn) error {
		runs++
		tx.Set("row", app("first"), nil)
		tx.Set("row", app("second"), nil)
		_, err := other.Run(ctx, func(tx *Txn) error { tx.Set("row", app("second"), nil); return nil })
		return err
	})
	if !errors.Is(err, ErrCrash) || errors.Is(err, ErrConflict) || runs != 1 {
		t.Errorf("%d runs, and then %v", runs, err)
	}
}

// TestRunOfTheDead: a process that others have found dead does not start over.
func TestRunOfTheDead(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	db, process := openShared(t, table, coordinator, Options{})
	runs := 0
	_, err := db.Run(context.Background(), func(tx *Txn) error {
		runs++
		process.Die()
		_, err := tx.Get(context.Background(), "row", app("c"))
		return err
	})
	if !errors.Is(err, ErrDead) || runs != 1 {
		t.Errorf("%d runs, and then %v", runs, err)
	}
}

// TestBankOfProcesses: transfers between accounts in several DBs on one table, and each
// audit finds the whole sum. Some processes die in mid-commit, and others take their place.
func TestBankOfProcesses(t *testing.T) {
	b := &sharedBank{t: t, table: sharedTable(t), coordinator: sharedtest.New()}
	for i := range 8 {
		b.accounts = append(b.accounts, fmt.Sprint("account", i))
	}
	seed := testenv.Random(t).Uint64()
	db, _ := openShared(t, b.table, b.coordinator, Options{})
	run(t, db, func(tx *Txn) {
		for _, a := range b.accounts {
			tx.Set(a, app("balance"), []byte{sharedBalance})
		}
	})
	var work sync.WaitGroup
	for p := range 3 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(p)))
			for range testenv.Size(2, 5, 50) {
				b.live(random)
			}
		})
	}
	work.Wait()
	tx := mustBegin(t, db)
	defer tx.Rollback()
	b.audit(tx)
}

const sharedBalance = 100 // of each account at first

// sharedBank is a bank of several processes.
type sharedBank struct {
	t           *testing.T
	table       store.Table
	coordinator *sharedtest.Coordinator
	accounts    []string
}

// live transfers money in a new process, until it dies at some step.
func (b *sharedBank) live(random *rand.Rand) {
	doomed, process := random.IntN(400), b.coordinator.Join()
	db, err := Open(b.t.Context(), b.table, Options{Coordination: coordination(process), LockTTL: time.Minute, Step: func(string, Cell) error {
		if doomed--; doomed < 0 {
			return ErrCrash
		}
		return nil
	}})
	if err != nil {
		b.t.Error(err)
		return
	}
	for err == nil {
		from, to, much := random.IntN(len(b.accounts)), random.IntN(len(b.accounts)), byte(random.IntN(10))
		_, err = db.Run(b.t.Context(), func(tx *Txn) error {
			b.audit(tx)
			v, w := b.balance(tx, from), b.balance(tx, to)
			if from != to && v >= much && int(w)+int(much) < 256 {
				tx.Set(b.accounts[from], app("balance"), []byte{v - much})
				tx.Set(b.accounts[to], app("balance"), []byte{w + much})
			}
			return nil
		})
	}
	if !errors.Is(err, ErrCrash) {
		b.t.Errorf("%s: %v", process.Token(), err)
	}
	process.Die()
	if err := db.Close(); err != nil {
		b.t.Error(err)
	}
}

// audit adds up the accounts, which it reads ahead in half of the transactions.
func (b *sharedBank) audit(tx *Txn) {
	if tx.Start()%2 == 0 {
		if err := tx.ReadAhead(b.t.Context(), Ahead{b.accounts, []Column{app("balance")}}); err != nil {
			b.t.Error(err)
		}
	}
	n := 0
	for i := range b.accounts {
		n += int(b.balance(tx, i))
	}
	if n != len(b.accounts)*sharedBalance {
		b.t.Errorf("a sum of %d at %d", n, tx.Start())
	}
}

func (b *sharedBank) balance(tx *Txn, i int) byte {
	v, err := tx.Get(b.t.Context(), b.accounts[i], app("balance"))
	if err != nil || len(v.Data) == 0 {
		b.t.Errorf("%s at %d: %q, %v", b.accounts[i], tx.Start(), v.Data, err)
		return 0
	}
	return v.Data[0]
}

// View reads the present, although a collector raises the safe point past the timestamp that the
// oracle has just returned.
func TestViewHoldsItsTimestamp(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	c := coordination(coordinator.Join())
	slow := &slowLast{Timestamps: c.Timestamps}
	c.Timestamps = slow
	db := open(t, table, Options{Coordination: c})
	defer db.Close()
	setC(t, db, "old")
	slow.then = func() {
		setC(t, db, "new")
		if _, err := db.Collect(t.Context(), CollectOptions{}); err != nil {
			t.Error(err)
		}
	}
	err := db.View(t.Context(), func(tx *Txn) error {
		v, err := tx.Get(t.Context(), "row", app("c"))
		if string(v.Data) != "old" {
			t.Errorf("read %q, want the value at the time of the call", v.Data)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// slowLast calls a function once between an answer of Last and its arrival.
type slowLast struct {
	Timestamps
	then func()
}

func (s *slowLast) Last(ctx context.Context) (uint64, error) {
	ts, err := s.Timestamps.Last(ctx)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return ts, err
}
