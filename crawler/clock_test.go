package crawler

import (
	"testing"
	"testing/synctest"
	"time"

	"indexer/crawler/robots"
)

// The times stored by a run whose clock was ten years ahead do not keep a host from
// being asked now; possible times are left as they are.
func TestMendTimes(t *testing.T) {
	var o Politeness
	o.setDefaults()
	now := epoch.Add(time.Hour)
	ahead := now.AddDate(10, 0, 0)
	s := HostState{Saved: ahead, Until: ahead, AskedUntil: ahead, SitemapsRead: ahead, Robots: robots.Policy{Until: ahead}}
	s.Soft.Asked = ahead
	s.mendTimes(now, epoch, &o)
	if s.Until.After(now.Add(o.MaxRetryAfter)) || s.AskedUntil.After(now.Add(o.MaxRetryAfter)) || s.Saved.After(epoch) ||
		s.SitemapsRead.After(now) || s.Robots.Until.After(now) || s.Soft.Asked.After(now) {
		t.Errorf("%+v", s)
	}
	can := HostState{
		Saved: now, Until: now.Add(time.Hour), AskedUntil: now.Add(23 * time.Hour), SitemapsRead: epoch,
		Robots: robots.Policy{Until: now.Add(24 * time.Hour)},
	}
	was := can
	can.mendTimes(now, epoch, &o)
	if can.Until != was.Until || can.AskedUntil != was.AskedUntil || can.Robots.Until != was.Robots.Until || can.Saved != was.Saved || can.SitemapsRead != was.SitemapsRead {
		t.Errorf("%+v", can)
	}
}

// The host is crawled although everything stored of it lies years ahead.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 2, time.Millisecond)
		h := newHost("https://a.example")
		h.policy = robots.Policy{Verdict: robots.AllowAll, Until: time.Now().AddDate(10, 0, 0)}
		h.pace.until, h.pace.asked = time.Now().AddDate(10, 0, 0), time.Now().AddDate(10, 0, 0)
		f.states[h.key] = h.encode()
		if err := newCrawler(Options{Patience: 25 * time.Hour}, f, w, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range f.list() {
			if e.index != "page" {
				t.Errorf("%s: %s", e.job.URL, e.note)
			}
		}
	})
}
