package frontier_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// TestLeftAlone: while a host is left alone, the answers for its URLs that are due say why and until when, and
// whether the next run asks it sooner.
func TestLeftAlone(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/", "https://a.example/new")
	u := page.URL("https://a.example/")
	r.visited(r.due(host)[0], page.Fetch{URL: u, Time: r.clock, Status: 429})
	until := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	at := until.Format(time.RFC3339)
	state := crawler.HostState{Version: 1, Robots: robots.Policy{Verdict: robots.AllowAll}, Until: until, Why: "status 503"}
	for _, c := range []struct {
		asked time.Time
		want  string
	}{
		{time.Time{}, "its host is left alone: status 503; it is asked again from " + at + " on, or by the next run"},
		{until, "its host is left alone: status 503; it is asked again from " + at + " on"},
	} {
		state.AskedUntil = c.asked
		r.saveHost(host, state)
		if i := r.inspect(u); i.Note != "an hour after the last visit; "+c.want {
			t.Errorf("due because %q, want it to end in %q", i.Note, c.want)
		}
		if i := r.inspect("https://a.example/new"); i.NotFetched != c.want {
			t.Errorf("not fetched because %q, want %q", i.NotFetched, c.want)
		}
	}
	list, err := frontier.Again(t.Context(), r.db, []page.URL{u}, r.clock)
	if err != nil {
		t.Fatal(err)
	}
	came, err := frontier.Outcomes(t.Context(), r.db, list, time.Now())
	if err != nil || came[0].Visit != nil || !strings.HasPrefix(came[0].Why, "its host is left alone: ") {
		t.Errorf("asked for by name: %+v, %v", came, err)
	}
	r.saveHost(host, crawler.HostState{Version: 1})
	if i := r.inspect(u); strings.Contains(i.Note, "left alone") {
		t.Errorf("a host that is not left alone: %q", i.Note)
	}
}

// TestRobotsNotFetched: as long as robots.txt has not been fetched, or leads elsewhere, it disallows nothing, and a
// page can be asked for.
func TestRobotsNotFetched(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	u := page.URL("https://a.example/")
	for _, v := range []robots.Verdict{robots.Unknown, robots.Follow} {
		r.saveHost(host, crawler.HostState{Version: 1, Robots: robots.Policy{Verdict: v}})
		if i := r.inspect(u); !i.RobotsUnknown || !i.RobotsAllowed || strings.Contains(i.NotFetched, "robots.txt") {
			t.Errorf("with the verdict %v: %+v", v, i)
		}
		if list, err := frontier.Again(t.Context(), r.db, []page.URL{u}, r.clock); err != nil || list[0].Why != "" {
			t.Errorf("with the verdict %v, asked for by name: %+v, %v", v, list, err)
		}
	}
}

// TestResourceAgain: the scope does not apply to resources, so one on another host can be asked for;
// exclude patterns do apply.
func TestResourceAgain(t *testing.T) {
	r := newRig(t)
	config := frontier.Config{Scope: "host", MaxDepth: -1}
	r.begin(config, host+"/")
	const font = "https://cdn.example/font"
	found := crawler.Finding{URLs: []crawler.Found{{URL: font}}, Depth: 1, Source: host + "/", Resources: true}
	if _, err := r.front.Add(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", `scope.exclude: it matches the exclude pattern "font"`} {
		list, err := frontier.Again(t.Context(), r.db, []page.URL{font, "https://cdn.example/"}, r.clock)
		if err != nil || list[0].Why != want || list[1].Due {
			t.Errorf("%+v, %v; want %q", list, err, want)
		}
		config.Exclude = []string{"font"}
		r.begin(config, host+"/")
	}
}

func (r *rig) saveHost(host string, s crawler.HostState) {
	r.t.Helper()
	raw, err := json.Marshal(s)
	if err == nil {
		err = r.front.SaveHost(context.Background(), host, raw)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) inspect(u page.URL) *frontier.Inspection {
	r.t.Helper()
	i, err := frontier.Inspect(context.Background(), r.db, u)
	if err != nil {
		r.t.Fatal(err)
	}
	return i
}
