package crawler

import (
	"net/netip"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

func sampleHost() *host {
	h := newHost("https://a.example:8443")
	h.policy = robots.Decide(robots.Policy{}, page.Fetch{
		URL: "https://a.example:8443/robots.txt", Time: epoch, Status: 200, Body: []byte("User-agent: *\nDisallow: /\xff\x00x\n"),
	})
	h.pace = pace{response: 120 * time.Millisecond, crawlDelay: 3 * time.Second, failures: 2, until: epoch.Add(time.Hour), why: "timeout"}
	h.addr = netip.MustParseAddr("2001:db8::1")
	h.aux.read, h.aux.feeds = epoch, []page.URL{"https://a.example:8443/feed"}
	h.soft.SoftNotFound = SoftNotFound{
		Asked: epoch, Answer: notFoundAnswer{shingles{1, 1 << 31}, 3}, Unlike: true, Alike: true,
		Early: []earlyPage{{"https://a.example/e", shingles{7}, true, true}}, Suspects: []page.URL{"https://a.example/s"},
	}
	return h
}

func TestHostStateRoundTrip(t *testing.T) {
	raw := sampleHost().encode()
	s, err := DecodeHost(raw)
	if err != nil {
		t.Fatal(err)
	}
	again := newHost("https://a.example:8443")
	again.restore(s, nil, s.Saved.Add(-time.Second)) // by the same run
	second, err := DecodeHost(again.encode())
	if err != nil {
		t.Fatal(err)
	}
	if second.Saved = s.Saved; !reflect.DeepEqual(s, second) {
		t.Errorf("\n%+v is not\n%+v", second, s)
	}
	if ok, rule := s.Allowed("indexer", "https://a.example:8443/%FF%00x"); ok || rule.Line != 2 {
		t.Errorf("%v by %v", ok, rule)
	}
}

// A new run forgets failures whose cause may have been fixed, but not what the host
// asked for.
func TestRestoreInANewRun(t *testing.T) {
	h := sampleHost()
	h.policy = robots.Decide(h.policy, page.Fetch{URL: "https://a.example:8443/robots.txt", Time: time.Now(), Status: 503})
	s, err := DecodeHost(h.encode())
	if err != nil {
		t.Fatal(err)
	}
	now := s.Saved.Add(time.Second)
	again := newHost(h.key)
	again.restore(s, nil, now)
	if !again.stored || again.pace.until.After(now) || !again.policy.Due(now) || again.pace.failures != 2 {
		t.Errorf("%+v %+v", again.pace, again.policy)
	}
	s.AskedUntil = now.Add(time.Hour)
	again.restore(s, nil, now)
	if !again.pace.until.Equal(s.AskedUntil) {
		t.Errorf("%+v", again.pace)
	}
}

func TestDecodeHostErrors(t *testing.T) {
	for _, raw := range []string{"{", `{"version":2}`, `{"version":1,"address":"nowhere"}`} {
		if _, err := DecodeHost([]byte(raw)); err == nil {
			t.Errorf("%s is read", raw)
		}
	}
	if s, err := DecodeHost(nil); err != nil || s.Version != 0 {
		t.Errorf("nothing is %+v, %v", s, err)
	}
}

func FuzzDecodeHost(f *testing.F) {
	f.Add(sampleHost().encode())
	f.Add([]byte(`{"version":1,"robots":{"Verdict":4,"Next":"x"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeHost(raw)
		if err != nil {
			return
		}
		h := newHost("https://a.example")
		h.restore(s, s.Robots.Group("indexer"), epoch)
		first := h.encode()
		if len(first) == 0 {
			return // a time beyond the year 9999
		}
		again, err := DecodeHost(first)
		if err != nil {
			t.Fatalf("what was encoded cannot be read: %v", err)
		}
		h.restore(again, nil, again.Saved.Add(-1))
		a, b := again, HostState{}
		if b, err = DecodeHost(h.encode()); err != nil {
			t.Fatal(err)
		}
		if b.Saved = a.Saved; !reflect.DeepEqual(a, b) {
			t.Fatalf("the state changes by being stored:\n%+v\n%+v", a, b)
		}
	})
}

// The reason why a host is left alone is given even if it is only its robots.txt.
func TestLeftAlone(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later, past := now.Add(time.Minute), now.Add(-time.Minute)
	closed := func(v robots.Verdict, until time.Time) robots.Policy {
		return robots.Policy{Verdict: v, Until: until, Why: "rules"}
	}
	for name, tt := range map[string]struct {
		state HostState
		want  string
	}{
		"never asked":                {HostState{}, ""},
		"backs off":                  {HostState{Until: later, Why: "asked to"}, "asked to"},
		"no more":                    {HostState{Until: past, Why: "asked to"}, ""},
		"robots.txt not reached":     {HostState{Robots: closed(robots.DisallowAll, later)}, "rules"},
		"it is tried again now":      {HostState{Robots: closed(robots.DisallowAll, past)}, ""},
		"robots.txt is obeyed":       {HostState{Robots: closed(robots.Obey, later)}, ""},
		"both, the pace comes first": {HostState{Until: later, Why: "asked to", Robots: closed(robots.DisallowAll, later)}, "asked to"},
	} {
		if until, why := tt.state.LeftAlone(now); why != tt.want || why != "" && !until.Equal(later) {
			t.Errorf("%s: until %v, %q; want %q", name, until, why, tt.want)
		}
	}
}

// The times stored by a run whose clock was ten years ahead do not keep a host from
// being asked now; possible times are left as they are.
func TestMendTimes(t *testing.T) {
	var o Politeness
	o.setDefaults()
	now := epoch.Add(time.Hour)
	ahead := now.AddDate(10, 0, 0)
	s := HostState{Saved: ahead, Until: ahead, AskedUntil: ahead, SitemapsRead: ahead, Answered: ahead, Robots: robots.Policy{Until: ahead, Since: ahead}}
	s.Soft.Asked = ahead
	s.mendTimes(now, epoch, &o)
	if s.Until.After(now.Add(o.MaxRetryAfter)) || s.AskedUntil.After(now.Add(o.MaxRetryAfter)) || s.Saved.After(epoch) ||
		s.SitemapsRead.After(now) || s.Robots.Until.After(now) || s.Robots.Since.After(now) || s.Soft.Asked.After(now) || !s.Answered.Before(epoch) {
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
		if err := newCrawler(Options{MaxWait: 25 * time.Hour}, f, w, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range f.list() {
			if e.index != "page" {
				t.Errorf("%s: %s", e.job.URL, e.note)
			}
		}
	})
}
