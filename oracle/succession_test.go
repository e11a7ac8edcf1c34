package oracle

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

// TestTermBeginsAboveTheLast: an oracle hands out no timestamp that one before it may have handed out,
// and one that leaves says so, so that the next one need not wait for the end of its token.
func TestTermBeginsAboveTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		one := start(t, &link{Table: table}, "a")
		takeOne(t, one)
		ceiling := one.Status().Ceiling
		stop(t, one)
		if h, err := ReadHolder(t.Context(), table); err != nil || h.Token != "" {
			t.Errorf("the oracle has left, and the table names %q, %v", h.Token, err)
		}
		two := start(t, &link{Table: table}, "b")
		if ts, _ := takeOne(t, two); ts < ceiling {
			t.Errorf("the next oracle handed out %d, and the one before it all below %d", ts, ceiling)
		}
		stop(t, two)
	})
}

// TestReplacedTermEnds: an oracle that cannot raise the ceiling, because another one has begun a term,
// hands out nothing more, not even what is left of its range: it is less than what others hand out.
func TestReplacedTermEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		member := joinThrough(t, &link{Table: table})
		h, won, err := claim(t.Context(), table, Holder{}, Holder{Token: member.Token()})
		if err != nil || !won {
			t.Fatal(won, err)
		}
		term, err := beginTerm(t.Context(), table, member, h.term)
		if err != nil {
			t.Fatal(err)
		}
		if _, won, err := claim(t.Context(), table, h, Holder{Token: "another"}); err != nil || !won {
			t.Fatal(won, err)
		}
		if _, err := term.take(t.Context(), rangeSize/2); err != nil { // from which on it needs more
			t.Fatal(err)
		}
		if _, err := term.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(TTL)
		if ts, err := term.take(t.Context(), 1); !errors.Is(err, ErrReplaced) || !errors.Is(term.ended(), ErrReplaced) {
			t.Errorf("the replaced oracle hands out %d, %v; its term has ended: %v", ts, err, term.ended())
		}
		if err := member.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestOtherDomain: a candidate does not judge an oracle whose token it cannot look up.
func TestOtherDomain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		if _, won, err := claim(t.Context(), table, Holder{}, Holder{Token: "x", Domain: "etcd"}); err != nil || !won {
			t.Fatal(won, err)
		}
		if _, err := StartOwn(t.Context(), table); !errors.Is(err, ErrOtherDomain) {
			t.Errorf("beside an oracle with its token elsewhere: %v", err)
		}
		if h, err := ReadHolder(t.Context(), table); err != nil || h.Token != "x" {
			t.Errorf("the table names %q, %v", h.Token, err)
		}
	})
}

// TestLostAnswers: a process whose signs of life reach the table, and whose answers are lost, goes on.
func TestLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &link{Table: newTable(t)}
		l.setLie(func() bool { return true })
		one := joinThrough(t, l)
		time.Sleep(10 * TTL)
		if err := one.Valid(); err != nil || isLost(one) {
			t.Errorf("valid %v, lost %t", err, isLost(one))
		}
		if err := one.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// late is a table on which something happens just before a process is removed.
type late struct {
	store.Table
	once    sync.Once
	happens func()
}

func (l *late) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if m.Mutations[0].Op == store.DeleteUpTo {
		l.once.Do(l.happens)
	}
	return l.Table.Mutate(ctx, m)
}

// TestSignOfLifeInTime: a process that shows a sign of life just before it would be removed is alive.
func TestSignOfLifeInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &link{Table: newTable(t)}
		one := joinThrough(t, l)
		l.setCut(true)
		met := false
		two, err := Join(t.Context(), &late{Table: l.Table, happens: func() {
			met = true
			l.setCut(false)
			time.Sleep(TTL / 2)
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			time.Sleep(TTL / 10)
			if alive, err := two.Alive(t.Context(), one.Token()); err != nil || !alive {
				t.Fatalf("alive %t, %v", alive, err)
			}
		}
		if !met || isLost(one) {
			t.Errorf("it was about to be removed: %t; it is lost: %t", met, isLost(one))
		}
		for _, m := range []*Tokens{one, two} {
			if err := m.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestLocksOfTheDead: the locks of a dead process are free at once, and those of others stay.
func TestLocksOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		one, two := joinThrough(t, &link{Table: table}), joinThrough(t, &link{Table: table})
		var locks rowLocks
		locks.try(one.Token(), []string{"a", "b"}, time.Now())
		locks.try(two.Token(), []string{"c"}, time.Now())
		locks.release(two.Token(), []string{"a"})
		if err := one.Leave(t.Context()); err != nil {
			t.Error(err)
		}
		if n := locks.count(); n != 3 {
			t.Errorf("%d locks after a process has released one of another, want 3", n)
		}
		locks.dropDead(t.Context(), two)
		if n := locks.count(); n != 1 {
			t.Errorf("%d locks, want that of the live process", n)
		}
		if err := two.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
