package batch

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestBothEntries feeds random webs once as all their fetches in random order,
// and once as the one fetch of each URL that decides, found by sorting.
func TestBothEntries(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 200) {
		random := rand.New(rand.NewPCG(seed, 0))
		byURL := make(map[page.URL][]*page.Fetch)
		all, decided := New(), New()
		var fetches []*page.Fetch
		for second := range 60 {
			f := randomFetch(random, int64(second))
			fetches = append(fetches, f)
			byURL[f.URL] = append(byURL[f.URL], f)
		}
		for u, history := range byURL {
			addNewest(decided, u, history)
		}
		random.Shuffle(len(fetches), func(i, j int) { fetches[i], fetches[j] = fetches[j], fetches[i] })
		for _, f := range fetches {
			all.Add(f)
		}
		if a, b := describe(all.Finish(nil)), describe(decided.Finish(nil)); a != b {
			t.Fatalf("seed %d: from all fetches\n%s\nfrom those that decide\n%s", seed, a, b)
		}
	}
}

// addNewest decides by reading a URL's fetches, which are in order of time, from
// the end.
func addNewest(b *Builder, u page.URL, history []*page.Fetch) {
	var renewed time.Time
	var failed *page.Fetch
	for i := len(history) - 1; i >= 0; i-- {
		f := history[i]
		switch {
		case f.Revisit:
			if renewed.IsZero() {
				renewed = f.Time
			}
			continue
		case f.Status >= 500:
			if failed == nil {
				failed = f
			}
			continue
		}
		b.AddDecided(u, page.Interpret(f), laterOf(f.Time, renewed))
		return
	}
	if failed != nil {
		b.AddDecided(u, page.Interpret(failed), laterOf(failed.Time, renewed))
	} else {
		b.AddDecided(u, page.Document{}, time.Time{})
	}
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func randomFetch(random *rand.Rand, second int64) *page.Fetch {
	url := func() page.URL { return page.URL(fmt.Sprintf("https://example.com/%d", random.IntN(12))) }
	f := &page.Fetch{URL: url(), Time: time.Unix(second, 0), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}}
	switch random.IntN(10) {
	case 0:
		f.Status = http.StatusNotFound
	case 1:
		f.Status = http.StatusBadGateway
	case 2:
		f.Revisit = true
	case 3, 4:
		f.Status = http.StatusFound
		f.Header.Set("Location", string(url()))
	default:
		f.Body = fmt.Appendf(nil, "<p>%064d<area href=%q alt=x>", random.IntN(4), url())
		if random.IntN(2) == 0 {
			f.Body = fmt.Appendf(f.Body, "<link rel=canonical href=%q>", url())
		}
	}
	return f
}
