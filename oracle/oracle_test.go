package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// newTable is a table that processes share; each of them is a link to it.
func newTable(t testing.TB) store.Table {
	t.Helper()
	return sharedtest.Table(t, txn.Groups("app"))
}

// link is the connection of one process to the table. Cutting it makes its calls fail, and
// stalling it delays them, as if the process were stopped or the network slow.
type link struct {
	store.Table
	mu      sync.Mutex
	cut     bool
	stalled chan struct{} // calls wait until it is closed
	lie     func() bool   // whether to report a done operation as unknown
}

var errCut = errors.New("the network is cut")

func (l *link) wait(ctx context.Context) error {
	l.mu.Lock()
	stalled, cut := l.stalled, l.cut
	l.mu.Unlock()
	if stalled != nil {
		select {
		case <-stalled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if cut {
		return errCut
	}
	return nil
}

func (l *link) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return l.Table.Read(ctx, row, sel...)
}

func (l *link) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if err := l.wait(ctx); err != nil {
		return store.Result{}, err
	}
	res, err := l.Table.Mutate(ctx, m)
	l.mu.Lock()
	lie := l.lie
	l.mu.Unlock()
	if lie != nil && lie() {
		return store.Result{}, errCut
	}
	return res, err
}

func (l *link) Apply(ctx context.Context, rows []store.RowMutation) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.Table.Apply(ctx, rows)
}

func (l *link) setLie(lie func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lie = lie
}

func (l *link) setCut(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = on
}

// stall returns the end of the stall.
func (l *link) stall() (resume func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stalled := make(chan struct{})
	l.stalled = stalled
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stalled = nil
		close(stalled)
	}
}

// start starts an oracle over a link. Its errors are expected only while the link is cut.
func start(t testing.TB, l *link, name string) *Oracle {
	t.Helper()
	o, err := Start(t.Context(), l, Options{
		Address: name,
		Join:    func(ctx context.Context) (Member, error) { return Join(ctx, l) },
		Failed:  func(err error) { t.Log(name, err) },
		Changed: func(on bool, n uint64, why error) { t.Log(name, "serving:", on, "term:", n, why) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func stop(t testing.TB, o *Oracle) {
	t.Helper()
	if err := o.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// takeOne asks the oracles in turn until one answers, and returns which one did.
func takeOne(t testing.TB, oracles ...*Oracle) (ts uint64, by int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for i, o := range oracles {
			if ts, err := o.Take(context.Background(), 1); err == nil {
				return ts, i
			}
		}
	}
	t.Fatal("no oracle serves")
	return 0, 0
}

func TestStandbyTakesOver(t *testing.T) {
	for _, tc := range []struct {
		name string
		fail func(t *testing.T, o *Oracle, l *link) (after func())
		// within is how long the table may be without an oracle.
		within time.Duration
	}{
		{"handed over", func(t *testing.T, o *Oracle, _ *link) func() {
			stop(t, o)
			return func() {}
		}, TTL / 4},
		{"cut off", func(t *testing.T, o *Oracle, l *link) func() {
			l.setCut(true)
			return func() { l.setCut(false); stop(t, o) }
		}, 2 * TTL},
		{"stalled", func(t *testing.T, o *Oracle, l *link) func() {
			resume := l.stall()
			return func() { resume(); stop(t, o) }
		}, 2 * TTL},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := newTable(t)
				first, second := &link{Table: table}, &link{Table: table}
				a := start(t, first, "a")
				last, _ := takeOne(t, a)
				b := start(t, second, "b")
				time.Sleep(3 * TTL)
				if _, err := b.Take(t.Context(), 1); !errors.Is(err, ErrNotServing) {
					t.Errorf("the standby answers beside the oracle: %v", err)
				}
				after := tc.fail(t, a, first)
				began := time.Now()
				for ; ; time.Sleep(10 * time.Millisecond) {
					ts, by := takeOne(t, a, b)
					if ts <= last {
						t.Fatalf("%d by oracle %d, after %d", ts, by, last)
					}
					if last = ts; by == 1 {
						break
					}
				}
				if took := time.Since(began); took > tc.within {
					t.Errorf("the standby answered after %v", took)
				}
				if _, err := a.Take(t.Context(), 1); !errors.Is(err, ErrNotServing) {
					t.Errorf("the old oracle: %v", err)
				}
				after()
				if ts, by := takeOne(t, a, b); by != 1 || ts <= last {
					t.Errorf("%d by oracle %d, after %d", ts, by, last)
				}
				stop(t, b)
			})
		})
	}
}

// TestReplacedOracleJoinsAgain: an oracle that was found dead stands by afterwards.
func TestReplacedOracleJoinsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		first, second := &link{Table: table}, &link{Table: table}
		a := start(t, first, "a")
		last, _ := takeOne(t, a)
		b := start(t, second, "b")
		for range 3 {
			resume := first.stall()
			ts, _ := takeOne(t, b)
			resume()
			time.Sleep(2 * TTL)
			if ts <= last {
				t.Errorf("%d after %d", ts, last)
			}
			resume = second.stall()
			last, _ = takeOne(t, a)
			resume()
			time.Sleep(2 * TTL)
			if last <= ts {
				t.Errorf("%d after %d", last, ts)
			}
		}
		stop(t, b)
		stop(t, a)
	})
}

// TestStoppedBetweenTakingAndAnswering: the process stops after it took numbers from
// memory, and continues when another one has served. It must refuse them.
func TestStoppedBetweenTakingAndAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		l := &link{Table: table}
		a := start(t, l, "a")
		takeOne(t, a)
		_, term := a.state()
		paused := &pausedLiveness{Liveness: term.lives, asked: make(chan struct{}), resume: make(chan struct{})}
		term.lives = paused
		answer := make(chan error)
		go func() {
			_, err := a.Take(t.Context(), 1)
			answer <- err
		}()
		<-paused.asked
		resume := l.stall()
		b := start(t, &link{Table: table}, "b")
		takeOne(t, b)
		close(paused.resume)
		if err := <-answer; !errors.Is(err, ErrNotServing) {
			t.Errorf("an old timestamp was handed out: %v", err)
		}
		resume()
		stop(t, a)
		stop(t, b)
	})
}

// pausedLiveness stops the process in front of the check.
type pausedLiveness struct {
	txn.Liveness
	asked, resume chan struct{}
	calls         atomic.Int32
}

func (p *pausedLiveness) Valid() error {
	if p.calls.Add(1) == 2 { // the first call is before the numbers are taken
		close(p.asked)
		<-p.resume
	}
	return p.Liveness.Valid()
}

// TestLateWriteOfAnOldTerm: the table refuses what an old oracle writes, however late.
func TestLateWriteOfAnOldTerm(t *testing.T) {
	table, ctx := newTable(t), t.Context()
	h1, won, err := claim(ctx, table, Holder{}, Holder{Token: "a"})
	if err != nil || !won {
		t.Fatal(won, err)
	}
	if _, won, err := claim(ctx, table, Holder{}, Holder{Token: "b"}); err != nil || won {
		t.Fatal("two processes began the first term", err)
	}
	if err := raiseCeiling(ctx, table, h1.term, 1000); err != nil {
		t.Fatal(err)
	}
	h2, won, err := claim(ctx, table, h1, Holder{Token: "b"})
	if err != nil || !won {
		t.Fatal(won, err)
	}
	if err := raiseCeiling(ctx, table, h1.term, 5000); !errors.Is(err, ErrReplaced) {
		t.Errorf("the old term raised the ceiling: %v", err)
	}
	if c, err := readCeiling(ctx, table); err != nil || c != 1000 {
		t.Errorf("the ceiling is %d, %v", c, err)
	}
	if err := raiseCeiling(ctx, table, h2.term, 2000); err != nil {
		t.Error(err)
	}
}

// TestOraclesInTurmoil: several oracles whose links fail at random, and callers that ask
// whichever answers. Each timestamp is greater than all that were handed out before its
// request, and none is handed out twice.
func TestOraclesInTurmoil(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(2, 10, 500))) {
		synctest.Test(t, func(t *testing.T) { turmoil(t, seed) })
	}
}

// takers ask oracles for timestamps, and keep what they got.
type takers struct {
	t        *testing.T
	oracles  []*Oracle
	greatest atomic.Uint64
	mu       sync.Mutex
	all      []uint64
}

// take asks an oracle at random, after a pause.
func (s *takers) take(random *rand.Rand) {
	time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
	before, n := s.greatest.Load(), uint64(1+random.IntN(5))
	first, err := s.oracles[random.IntN(len(s.oracles))].Take(context.Background(), n)
	if err != nil {
		return
	}
	if first <= before {
		s.t.Errorf("%d was handed out after %d", first, before)
	}
	for g := s.greatest.Load(); g < first+n-1 && !s.greatest.CompareAndSwap(g, first+n-1); g = s.greatest.Load() {
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ts := first; ts < first+n; ts++ {
		s.all = append(s.all, ts)
	}
}

func turmoil(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	table := newTable(t)
	var links []*link
	s := &takers{t: t}
	for i := range 3 {
		l := &link{Table: table}
		lies := rand.New(rand.NewPCG(seed, uint64(1+i)))
		var mu sync.Mutex
		s.oracles = append(s.oracles, start(t, l, fmt.Sprint(i)))
		l.setLie(func() bool { mu.Lock(); defer mu.Unlock(); return lies.IntN(20) == 0 })
		links = append(links, l)
	}
	done := make(chan struct{})
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(100+c)))
			for {
				select {
				case <-done:
					return
				default:
					s.take(random)
				}
			}
		})
	}
	for range 30 {
		l := links[random.IntN(len(links))]
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		if random.IntN(2) == 0 {
			l.setCut(true)
			time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
			l.setCut(false)
		} else {
			resume := l.stall()
			time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
			resume()
		}
	}
	time.Sleep(3 * TTL)
	if ts, _ := takeOne(t, s.oracles...); ts <= s.greatest.Load() {
		t.Errorf("%d in the end, after %d", ts, s.greatest.Load())
	}
	close(done)
	callers.Wait()
	for i, o := range s.oracles {
		links[i].setLie(nil)
		stop(t, o)
	}
	slices.Sort(s.all)
	if n := len(slices.Compact(slices.Clone(s.all))); n != len(s.all) || n == 0 {
		t.Errorf("%d timestamps, %d of them different", len(s.all), n)
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Deadline
		if !d.Passed() {
			t.Error("a deadline that was never set has not passed")
		}
		sent := time.Now()
		d.Extend(sent, 3*time.Second)
		for _, tc := range []struct {
			name       string
			mono, wall time.Duration
			want       bool
		}{
			{"in time", time.Second, time.Second, false},
			{"late", 2*time.Second + 1, 2*time.Second + 1, true},
			{"the machine slept", time.Second, time.Hour, true},
			{"the clock was set back", 3 * time.Second, -time.Hour, true},
		} {
			d.now = func() time.Time { return sent.Add(tc.mono) }
			if tc.mono != tc.wall {
				d.until.Store(&moment{mono: sent.Add(2 * time.Second), wall: sent.Add(2*time.Second + tc.mono - tc.wall).Round(0)})
			}
			if got := d.Passed(); got != tc.want {
				t.Errorf("%s: passed %v", tc.name, got)
			}
		}
		d.Extend(sent, 3*time.Second)
		d.now = nil
		if d.Passed() {
			t.Error("passed at once")
		}
		if d.End(); !d.Passed() {
			t.Error("an ended one has not passed")
		}
	})
}
