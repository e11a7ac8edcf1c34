package txn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// office coordinates the DBs of a test as if each were a process: the plainest thing that
// keeps the promises of Coordination. Package oracle tests the real one.
type office struct {
	last  atomic.Uint64
	mu    sync.Mutex
	named int
	dead  map[string]bool
	down  error // of Alive
}

// desk is the connection of one process.
type desk struct {
	*office
	token  string
	silent bool // it shows no signs of life, and no process has found it dead
}

func (o *office) join() (*Coordination, *desk) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.named++
	d := &desk{office: o, token: fmt.Sprint("process ", o.named)}
	return &Coordination{Timestamps: d, Liveness: d}, d
}

func (d *desk) Next(context.Context) (uint64, error) { return d.last.Add(1), nil }
func (d *desk) Last(context.Context) (uint64, error) { return d.last.Load(), nil }
func (d *desk) Token() string                        { return d.token }

var (
	errDead   = errors.New("considered dead")
	errSilent = errors.New("no sign of life")
)

func (d *desk) Valid() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead[d.token] {
		return errDead
	}
	if d.silent {
		return errSilent
	}
	return nil
}

func (d *desk) setSilent(silent bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent = silent
}

func (d *desk) Alive(_ context.Context, token string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.dead[token], d.down
}

func (d *desk) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead == nil {
		d.dead = make(map[string]bool)
	}
	d.dead[d.token] = true
}

// sharedTable is a table that several DBs open.
func sharedTable(t *testing.T) store.Table {
	t.Helper()
	table, err := mem.New(Groups("app"), mem.Options{TwoPhaseOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTable(t, table) })
	return table
}

func openShared(t *testing.T, table store.Table, o *office, opts Options) (*DB, *desk) {
	t.Helper()
	c, d := o.join()
	opts.Coordination = c
	db := open(t, table, opts)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, d
}

func TestProcessesSeeEachOther(t *testing.T) {
	table, o := sharedTable(t), &office{}
	a, _ := openShared(t, table, o, Options{})
	b, _ := openShared(t, table, o, Options{})
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
	c, _ := new(office).join()
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
	c, _ := new(office).join()
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
			table, o := sharedTable(t), &office{}
			crash := func(step string, _ Cell) error {
				if step == stepCommitTS {
					return ErrCrash
				}
				return nil
			}
			a, desk := openShared(t, table, o, Options{Step: crash})
			b, _ := openShared(t, table, o, Options{LockTTL: tc.ttl})
			tx := mustBegin(t, a)
			tx.Set("row", app("c"), nil)
			if _, err := tx.Commit(context.Background()); !errors.Is(err, ErrCrash) {
				t.Fatal(err)
			}
			if tc.die {
				desk.die()
			}
			o.down = tc.down
			if n, err := b.ResolveAbandoned(context.Background()); err != nil || (n == 1) != tc.want {
				t.Errorf("resolved %d locks, %v; want one: %v", n, err, tc.want)
			}
		})
	}
}

// TestDeathWhileUndoing: a process that dies while it takes back its locks after a conflict does
// not begin again, although Run repeats transactions after conflicts.
func TestDeathWhileUndoing(t *testing.T) {
	table, o := sharedTable(t), &office{}
	other, _ := openShared(t, table, o, Options{})
	db, _ := openShared(t, table, o, Options{Step: func(step string, _ Cell) error {
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
	table, o := sharedTable(t), &office{}
	db, desk := openShared(t, table, o, Options{})
	runs := 0
	_, err := db.Run(context.Background(), func(tx *Txn) error {
		runs++
		desk.die()
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
	table, o := sharedTable(t), &office{}
	const accounts, balance = 8, 100
	seed := testenv.Random(t).Uint64()
	bank, _ := openShared(t, table, o, Options{})
	ctx := context.Background()
	name := func(i int) string { return fmt.Sprint("account", i) }
	_, err := bank.Run(ctx, func(tx *Txn) error {
		for i := range accounts {
			tx.Set(name(i), app("balance"), []byte{balance})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range accounts {
		names = append(names, name(i))
	}
	sum := func(tx *Txn) (n int) {
		if tx.Start()%2 == 0 {
			if err := tx.ReadAhead(ctx, Ahead{names, []Column{app("balance")}}); err != nil {
				t.Error(err)
			}
		}
		for i := range accounts {
			v, err := tx.Get(ctx, name(i), app("balance"))
			if err != nil {
				t.Error(err)
				return accounts * balance
			}
			n += int(v.Data[0])
		}
		return n
	}
	var work sync.WaitGroup
	for p := range 3 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(p)))
			for range testenv.Size(2, 5, 50) {
				doomed := random.IntN(400)
				c, desk := o.join()
				db, err := Open(ctx, table, Options{Coordination: c, LockTTL: time.Minute, Step: func(string, Cell) error {
					if doomed--; doomed < 0 {
						return ErrCrash
					}
					return nil
				}})
				if err != nil {
					t.Error(err)
					return
				}
				for err == nil {
					from, to, much := random.IntN(accounts), random.IntN(accounts), random.IntN(10)
					_, err = db.Run(ctx, func(tx *Txn) error {
						if n := sum(tx); n != accounts*balance {
							t.Errorf("process %s: a sum of %d at %d", desk.token, n, tx.Start())
						}
						v, _ := tx.Get(ctx, name(from), app("balance"))
						w, _ := tx.Get(ctx, name(to), app("balance"))
						if from != to && int(v.Data[0]) >= much && int(w.Data[0])+much < 256 {
							tx.Set(name(from), app("balance"), []byte{v.Data[0] - byte(much)})
							tx.Set(name(to), app("balance"), []byte{w.Data[0] + byte(much)})
						}
						return nil
					})
				}
				if !errors.Is(err, ErrCrash) {
					t.Errorf("process %s: %v", desk.token, err)
				}
				desk.die()
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	tx := mustBegin(t, bank)
	defer tx.Rollback()
	if n := sum(tx); n != accounts*balance {
		t.Errorf("a sum of %d in the end", n)
	}
}

// View reads the present, although a collector raises the safe point past the timestamp that the
// oracle has just returned.
func TestViewHoldsItsTimestamp(t *testing.T) {
	table, o := sharedTable(t), &office{}
	coordination, _ := o.join()
	slow := &slowLast{Timestamps: coordination.Timestamps}
	coordination.Timestamps = slow
	db := open(t, table, Options{Coordination: coordination})
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
