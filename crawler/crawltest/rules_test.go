package crawltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
)

// TestRulesChange: only one page is due when robots.txt has changed. All pages that it
// now disallows leave the index without a request, and what it allows again comes back.
// The archive's replay gives the same index after every step.
func TestRulesChange(t *testing.T) {
	t.Parallel()
	w, session := openInJanuary(t, "rules.txt", "http://r.ip41/")
	for _, step := range []struct{ month, requests, indexed string }{
		{"2024-01-15", "/ 200, /closed/one 200, /closed/two 200, /open 200, /robots.txt 200", " closed/one closed/two open"},
		{"2024-02-15", "/ 304, /robots.txt 200", " open"},
		{"2024-02-20", "/ 304, /robots.txt 200", " open"},
		{"2024-03-15", "/ 304, /closed/one 200, /never 200, /robots.txt 200", " closed/one never open"},
	} {
		w.At(step.month)
		w.Forget()
		if session.Front != nil {
			session.MakeDue(t, w.URL("http://r.ip41/"))
			robotsAreOld(t, session, crawler.HostOf(w.URL("http://r.ip41/")))
		}
		if err := session.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var requests []string
		for _, x := range w.Log() {
			if !isProbe(x.Path) {
				requests = append(requests, fmt.Sprint(x.Path, " ", x.Status))
			}
		}
		slices.Sort(requests)
		if got := strings.Join(requests, ", "); got != step.requests {
			t.Errorf("%s: requests %s, want %s", step.month, got, step.requests)
		}
		var want []string
		for path := range strings.SplitSeq(step.indexed, " ") {
			want = append(want, "r.ip41/"+path)
		}
		docs, digest := Export(t, session.Repo)
		checkMembers(t, w.Members(docs), want)
		if _, replayed := Replay(t, session.WARC); replayed != digest {
			t.Errorf("%s: the archive's replay has digest %s, the crawl %s", step.month, replayed, digest)
		}
	}
	Verify(t, session.Repo)
}

// robotsAreOld has a host's robots.txt asked for again, as if a day had passed.
func robotsAreOld(t *testing.T, s *Session, host string) {
	t.Helper()
	raw, err := s.Front.LoadHost(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	state, err := crawler.DecodeHost(raw)
	if err != nil {
		t.Fatal(err)
	}
	state.Robots.Until = time.Now().Add(-time.Second)
	if raw, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	if err := s.Front.SaveHost(t.Context(), host, raw); err != nil {
		t.Fatal(err)
	}
}
