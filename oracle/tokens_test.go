package oracle

import (
	"testing"
	"testing/synctest"
	"time"
)

// joinThrough joins through a link.
func joinThrough(t *testing.T, l *link) *Tokens {
	t.Helper()
	m, err := Join(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTableAway: while the table is unreachable, no process can show a sign of life. Afterwards,
// none is found dead because of that. A process that is silent alone still is.
//
// One of the two is slower to find out that the table is back. A moment of less than half a time
// to live goes unnoticed by the faster one, so both moments together are shorter than a time to
// live there.
func TestTableAway(t *testing.T) {
	for _, c := range []struct{ away, slower time.Duration }{
		{TTL / 4, TTL / 8},
		{TTL - time.Millisecond, TTL / 2},
		{TTL, TTL / 2},
		{2 * TTL, TTL / 2},
		{time.Minute, TTL / 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			table := newTable(t)
			links := []*link{{Table: table}, {Table: table}}
			one, two := joinThrough(t, links[0]), joinThrough(t, links[1])
			// look polls for the given time, as often as a process that waits for a
			// lock.
			look := func(howLong time.Duration) (alive bool) {
				for began := time.Now(); time.Since(began) < howLong; time.Sleep(10 * time.Millisecond) {
					if alive, err := two.Alive(t.Context(), one.Token()); err == nil && !alive {
						return false
					}
				}
				return true
			}
			for range 3 {
				if !look(3 * TTL) {
					t.Fatal("a process that shows signs of life was found dead")
				}
				for _, l := range links {
					l.setCut(true)
				}
				look(c.away)
				links[1].setCut(false)
				if !look(c.slower) {
					t.Fatalf("a process was found dead because the table was away for %v", c.away)
				}
				links[0].setCut(false)
			}
			if !look(3*TTL) || isLost(one) {
				t.Errorf("a process was found dead after the table was away for %v", c.away)
			}
			links[0].setCut(true)
			if look(2 * TTL) {
				t.Errorf("a process that is silent was not found dead within %v", 2*TTL)
			}
			links[0].setCut(false)
			for _, m := range []*Tokens{one, two} {
				if err := m.Leave(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLostAnswerOfASignOfLife: a sign of life reaches the table, its answer is lost, and the table
// is out of reach for a while. When the process finds its old sign there, others have seen it for
// as long as it is there, and are about to find the process dead.
func TestLostAnswerOfASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		l := &link{Table: table}
		one, two := joinThrough(t, l), joinThrough(t, &link{Table: table})
		l.setLie(func() bool { l.setCut(true); return true })
		time.Sleep(TTL * 9 / 40) // until shortly before the sign of life that is to be lost
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > TTL*9/10 {
				l.setLie(nil)
				l.setCut(false)
			}
			alive, err := two.Alive(t.Context(), one.Token())
			if err != nil {
				t.Fatal(err)
			}
			if alive && time.Since(began) < 2*TTL {
				continue
			}
			if !alive && one.Valid() == nil {
				t.Error("others have found the process dead, and it relies on its token")
			}
			break
		}
		for _, m := range []*Tokens{one, two} {
			if err := m.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestLeave: others know at once that a process has left.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		one, two := joinThrough(t, &link{Table: table}), joinThrough(t, &link{Table: table})
		if err := one.Leave(t.Context()); err != nil {
			t.Error(err)
		}
		if alive, err := two.Alive(t.Context(), one.Token()); err != nil || alive || one.Valid() == nil {
			t.Errorf("the process that has left: alive %t, %v, valid %v", alive, err, one.Valid())
		}
		if err := two.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
