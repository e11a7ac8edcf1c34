package crawler

import (
	"net/netip"
	"testing"
	"time"
)

// loadedHost is a host in c's memory that has nothing to do.
func loadedHost(c *Crawler, key string) *host {
	h := newHost(key)
	h.loaded, h.marked, h.jobs.exhausted = true, true, true
	c.hosts[key] = h
	return h
}

// A host that is woken for a slot and no longer needs it (its jobs were refused, say)
// passes the grant on; otherwise the other hosts would wait for ever.
func TestTurnIsPassedOn(t *testing.T) {
	c := New(Options{}, newFrontier(), newWeb(), nil)
	now := time.Now()
	s := []*slot{c.slot("address x", 1, 0)}
	first, second, third := loadedHost(c, "https://a.example"), loadedHost(c, "https://b.example"), loadedHost(c, "https://c.example")
	if !c.acquire(first, s, now) || c.acquire(second, s, now) || c.acquire(third, s, now) {
		t.Fatal("a slot for one was given to none, or to several")
	}
	c.release(s, now)
	if second.granted != s[0] || third.granted != nil {
		t.Fatal("the slot was not offered to the first who waits")
	}
	c.heap.items = nil
	second.index = -1
	c.advance(second, now)
	if second.granted != nil || third.granted != s[0] {
		t.Error("the turn was not passed on")
	}
}

// A later host does not overtake one that waits, even if the slot is free.
func TestNobodyOvertakes(t *testing.T) {
	c := New(Options{}, newFrontier(), newWeb(), nil)
	now := time.Now()
	s := c.slot("address x", 1, 0)
	early, late := loadedHost(c, "https://a.example"), loadedHost(c, "https://b.example")
	s.ready = now.Add(time.Second)
	c.acquire(early, []*slot{s}, now) // is woken when the slot is ready
	if c.acquire(late, []*slot{s}, now.Add(time.Second)) {
		t.Error("the later host took the slot")
	}
	early.granted, s.granted = nil, nil
	if !c.acquire(early, []*slot{s}, now.Add(time.Second)) {
		t.Error("the earlier host did not get the slot")
	}
}

func TestNetworks(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64",
	} {
		if got := network(netip.MustParseAddr(addr)); got != want {
			t.Errorf("network of %s: %s, not %s", addr, got, want)
		}
	}
}

// TestTurnText: a host that waits says in words for what.
func TestTurnText(t *testing.T) {
	const host = "http://a.test"
	for _, c := range []struct {
		slot  string
		delay time.Duration
		want  string
	}{
		{"host " + host, 1500 * time.Millisecond, "1.5s between two requests"},
		{"host " + host, 0, "requests are under way"},
		{"host http://b.test:81", time.Second, "requests to http://b.test:81 take turns"},
		{"address 192.0.2.1", time.Second, "hosts at the address 192.0.2.1 take turns"},
		{"domain a.test", time.Second, "hosts of the domain a.test take turns"},
	} {
		if got := turnText(c.slot, host, c.delay); got != c.want {
			t.Errorf("%s, %v: %q, want %q", c.slot, c.delay, got, c.want)
		}
	}
}
