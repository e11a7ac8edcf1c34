package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/txn"
)

// TestDivision: whichever processes join and leave, the rules end with all leases held, as
// evenly as possible, after few moves.
func TestDivision(t *testing.T) {
	rng := testenv.Random(t)
	for range testenv.Size(50, 300, 20_000) {
		d := division{holders: make([]string, 1+rng.IntN(12))}
		for i := range 1 + rng.IntN(6) {
			d.offers = append(d.offers, fmt.Sprint("p", i))
		}
		for i := range d.holders {
			if rng.IntN(3) > 0 {
				d.holders[i] = d.offers[rng.IntN(len(d.offers))]
			}
		}
		moves := 0
		for idle := 0; idle < 3*len(d.offers); idle++ {
			leaving := 0
			for _, own := range d.offers {
				if _, leave := d.next(own, rng.IntN); leave >= 0 {
					leaving++
				}
			}
			if leaving > 1 {
				t.Fatalf("%d processes of %v give a lease back at once", leaving, d)
			}
			own := d.offers[rng.IntN(len(d.offers))]
			take, leave := d.next(own, rng.IntN)
			switch {
			case take >= 0 && d.holders[take] == "":
				d.holders[take] = own
			case leave >= 0 && d.holders[leave] == own:
				d.holders[leave] = ""
			case take >= 0 || leave >= 0:
				t.Fatalf("%s of %v is to take %d and leave %d", own, d, take, leave)
			default:
				continue
			}
			idle = 0
			if moves++; moves > 4*len(d.holders)+2 {
				t.Fatalf("%d moves, and still %v", moves, d)
			}
		}
		// Each process has nothing to do now; the random order above may have missed one.
		for range 10 * len(d.holders) {
			for _, own := range d.offers {
				if take, leave := d.next(own, rng.IntN); take >= 0 {
					d.holders[take] = own
				} else if leave >= 0 {
					d.holders[leave] = ""
				}
			}
		}
		count := make(map[string]int)
		for _, token := range d.holders {
			count[token]++
		}
		for _, p := range d.offers {
			if n := count[p]; n < len(d.holders)/len(d.offers) || n > (len(d.holders)-1)/len(d.offers)+1 || count[""] > 0 {
				t.Fatalf("divided as %v", d.holders)
			}
		}
	}
}

// shares notes, by lease, who works under it.
type shares struct {
	t    *testing.T
	f    *fleet
	mu   sync.Mutex
	open map[string]*member
}

var shareNames = []string{"s0", "s1", "s2", "s3"}

// join adds a process that offers to hold the leases; a broken one cannot prepare for any.
func (s *shares) join(broken bool) (m *member) {
	var wants []Want
	for _, name := range shareNames {
		wants = append(wants, Want{Name: name, Gained: func(context.Context) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if other := s.open[name]; other != nil && other.process.Valid() == nil {
				s.t.Errorf("%s is open elsewhere", name)
			}
			if broken {
				return errors.New("no room")
			}
			s.open[name] = m
			return nil
		}})
	}
	m = s.f.join(Options{Balanced: &Balanced{
		Group: "s", Wants: wants,
		Leave: func(i int, drained func() error) (bool, error) {
			if err := drained(); err != nil {
				return false, err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.open[shareNames[i]] = nil
			return true, nil
		},
	}})
	m.Start(s.t.Context())
	return m
}

// left notes that a process has stopped.
func (s *shares) left(m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, by := range s.open {
		if by == m {
			s.open[name] = nil
		}
	}
}

// held enters all leases that a process holds, and counts them.
func (s *shares) held(m *member) (n int) {
	for _, name := range shareNames {
		if m.Held(name) {
			n++
			if r, err := m.Enter(s.t.Context(), name); err == nil {
				r.Leave()
			}
		}
	}
	return n
}

// wait waits until each process holds as many leases as it should.
func (s *shares) wait(want map[*member]int) {
	s.t.Helper()
	for {
		good := true
		for m, n := range want {
			good = s.held(m) == n && good
		}
		if good {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-s.t.Context().Done():
			s.t.Fatal("not divided")
		}
	}
}

// TestBalanced: processes divide leases, give some back to one that joins, and take over those
// of one that leaves or dies. No process prepares for a lease that another one has open, and
// runs continue all the time.
func TestBalanced(t *testing.T) {
	s := &shares{t: t, f: newFleet(t), open: make(map[string]*member)}
	one := s.join(false)
	s.wait(map[*member]int{one: 4})
	two := s.join(false)
	s.wait(map[*member]int{one: 2, two: 2})
	broken := s.join(true)
	s.wait(map[*member]int{one: 2, two: 2, broken: 0})
	two.process.Die()
	s.wait(map[*member]int{one: 4})
	three := s.join(false)
	s.wait(map[*member]int{one: 2, three: 2})
	if err := one.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	s.left(one)
	s.wait(map[*member]int{three: 4})
	for _, m := range []*member{two, three, broken} {
		if err := m.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestBroken: a process that cannot prepare for a lease takes it less and less often if others
// offer to, and otherwise tries as often as before.
func TestBroken(t *testing.T) {
	for _, tc := range []struct {
		others bool
		want   int
	}{{true, 6}, {false, 33}} {
		f, tries := newFleet(t), 0
		b := &Balanced{Group: "s", Wants: []Want{{Name: "s0", Gained: func(context.Context) error {
			tries++
			return errors.New("no room")
		}}}}
		m := f.join(Options{Balanced: b})
		if tc.others {
			if err := f.join(Options{}).offer(t.Context(), b, nil); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			_ = m.balance(t.Context(), b) // that there is no room
		}
		if tries != tc.want {
			t.Errorf("others: %v: it tried %d times, want %d", tc.others, tries, tc.want)
		}
	}
}

// TestBrokenGivesBack: a process that could not prepare for a lease, and could not give it back then
// either, gives it back as soon as it can. Others would not take it, because its holder is alive.
func TestBrokenGivesBack(t *testing.T) {
	f := newFleet(t)
	var m *member
	b := &Balanced{Group: "s", Wants: []Want{{Name: "s0", Gained: func(context.Context) error {
		m.process.SetSilent(true)
		return errors.New("the table does not answer")
	}}}}
	m = f.join(Options{Balanced: b})
	if err := m.balance(t.Context(), b); !errors.Is(err, sharedtest.ErrSilent) {
		t.Fatal(err)
	}
	m.process.SetSilent(false)
	if err := m.balance(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if d, err := m.look(t.Context(), b); err != nil || d.holders[0] != "" || len(d.offers) != 0 {
		t.Errorf("%q holds the lease, and %q offer, %v; want nobody", d.holders[0], d.offers, err)
	}
}

// TestDrainGivesUp: a process that could not drain a lease in time keeps all its fences, even
// those of the runs that were under way, so that as many runs as before can begin, and the next
// drain ends.
func TestDrainGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFleet(t).join(Options{})
		if held, err := m.Take(t.Context(), Want{Name: "s0"}); err != nil || !held {
			t.Fatal(held, err)
		}
		r, err := m.Enter(t.Context(), "s0")
		if err != nil {
			t.Fatal(err)
		}
		ended := errors.New("others may consider this process dead")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			synctest.Wait() // until it has all other fences
			cancel(ended)
		}()
		if err := m.drain(ctx, "s0"); !errors.Is(err, ended) {
			t.Fatalf("drained beside a run: %v", err)
		}
		r.Leave()
		if n := len(m.held["s0"].free); n != fences {
			t.Fatalf("%d of %d fences are free", n, fences)
		}
		if err := m.drain(t.Context(), "s0"); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Enter(t.Context(), "s0"); !errors.Is(err, notify.ErrNotHeld) {
			t.Fatalf("a run began under a lease that was drained: %v", err)
		}
	})
}

// TestBalanceBesideOthers: a process performs the tasks of the leases that it holds, leaves those of
// others alone, removes the offers of dead processes, and goes on after another one was faster.
func TestBalanceBesideOthers(t *testing.T) {
	f, done := newFleet(t), 0
	tasks := map[string]Task{"work": func(context.Context, func(int)) (any, error) { done++; return nil, nil }}
	b := &Balanced{Group: "s", Wants: []Want{{Name: "s0", Tasks: tasks}, {Name: "s1", Tasks: tasks}}}
	m, other, dead := f.join(Options{Balanced: b}), f.join(Options{}), f.join(Options{})
	m.life = t.Context()
	if held, err := other.Take(t.Context(), b.Wants[0]); err != nil || !held {
		t.Fatal(held, err)
	}
	if err := dead.offer(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	dead.request(t, "s0", "of a dead process")
	dead.process.Die()
	if err := m.takeShare(t.Context(), b, 0); err != nil || m.benched != 0 {
		t.Errorf("the other process was faster: %v, no offer for %d looks", err, m.benched)
	}
	other.request(t, "s1", "of a live process")
	for range 2 { // the first takes s1
		if err := m.balance(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	m.serveHeld(t.Context())
	m.work.Wait()
	if done != 1 || f.requests() != 2 {
		t.Errorf("did %d tasks, and left %d requests; want 1, and 2", done, f.requests())
	}
	offers := 0
	err := txn.EachCommitted(t.Context(), f.table, offerColumn, "", func(string, []byte) error { offers++; return nil })
	if err != nil || offers != 1 {
		t.Errorf("%d offers, %v; want that of the live process", offers, err)
	}
}
