package observers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

func rankOptions(l pagerank.Limits) observers.Options {
	return observers.Options{Limits: observers.Limits{Rank: l}}
}

// wide returns a web of pages with the given number of links each: to a popular page, to
// the next page, and to URLs that no other page links to.
func wide(t *testing.T, pages, links int) []*page.Fetch {
	t.Helper()
	var fetches []*page.Fetch
	for i := range pages {
		var b strings.Builder
		fmt.Fprintf(&b, "p.example/%d at=1 page text=p%d link=p.example/popular, link=p.example/%d,", i, i, (i+1)%pages)
		for k := range links - 2 {
			fmt.Fprintf(&b, " link=t.example/%d-%d,", i, k)
		}
		f, err := webtest.ParseFetch(b.String())
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, f)
	}
	return fetches
}

// TestRankLimits gives a run of rank more work than one of its limits allows: it does a part of
// it, correctly, and notifies the rest.
func TestRankLimits(t *testing.T) {
	for name, limits := range map[string]observers.Limits{
		"states":      {Rank: pagerank.Limits{States: 12_000, Direct: 40_000}},
		"more states": {Rank: pagerank.Limits{States: 30_000, Direct: 40_000}},
		"cells":       {Rank: pagerank.Limits{Direct: 40_000}, EdgeCells: 17},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRankLimits(t, limits)
		})
	}
}

func testRankLimits(t *testing.T, limits observers.Limits) {
	s, err := webtest.NewStage(t.Context(), observers.Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	const pages, links = 80, 400 // more rows and targets than rank reads at a time
	fetches := wide(t, pages, links)
	for _, f := range fetches {
		if _, err := s.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(t.Context(), "document"); err != nil {
		t.Fatal(err)
	}
	waiting := pages
	for runs := 1; waiting > 0; runs++ {
		if err := s.Run(t.Context(), "rank"); err != nil {
			t.Fatal(err)
		}
		now := waitingFor(t, s, "rank")
		t.Logf("after %d runs %d URLs wait for rank", runs, now)
		if limits.EdgeCells > 0 && now != max(0, waiting-limits.EdgeCells) {
			t.Errorf("run %d left %d of %d URLs", runs, now, waiting)
		}
		if runs == 1 && (now == 0 || now >= waiting) {
			t.Errorf("after one run %d of %d URLs wait: the run ignores its limits, or does nothing", now, waiting)
		}
		if runs > 2*pages {
			t.Fatalf("%d runs, and %d URLs wait", runs, now)
		}
		waiting = now
	}
	if err := s.Run(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	diff, err := webtest.Differences(t.Context(), s.DB, s.Sink.Documents(), fetches, webtest.Comparison{})
	if err != nil {
		t.Fatal(err)
	}
	if len(diff) > 0 {
		t.Errorf("differs from the batch: %d lines, the first %s", len(diff), diff[0])
	}
}

// waitingFor counts the rows that an observer has to run on.
func waitingFor(t *testing.T, s *webtest.Stage, observer string) (n int) {
	t.Helper()
	list, err := webtest.DumpNotifications(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if strings.HasPrefix(l, "wake "+observer+" at ") {
			n++
		}
	}
	return n
}

// TestJournalOverlay checks a random web between any two runs of rank. With the journal
// laid over the rows, every sum equals the sum of its summands, whatever part of the
// journal is applied.
func TestJournalOverlay(t *testing.T) {
	t.Parallel()
	partly := 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		partly += lookBetweenRuns(t, seed, webtest.RandomWeb(random, 60).Make(random))
	}
	if partly < 200 {
		t.Errorf("only %d times a journal was partly applied: this tests nothing", partly)
	}
}

// lookBetweenRuns loads fetches in two parts, and returns how often a journal was partly
// applied.
func lookBetweenRuns(t *testing.T, seed uint64, fetches []*page.Fetch) (partly int) {
	t.Helper()
	s, err := webtest.NewStage(t.Context(), rankOptions(pagerank.Limits{States: 40, Direct: 3, Part: 2}))
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(fetches, len(fetches)/2+1) {
		for _, f := range part {
			if _, err := s.Load(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		for next := "document"; next != ""; {
			if err := s.Run(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			if checkSums(t, seed, s.DB) {
				partly++
			}
			next = ""
			if waitingFor(t, s, "rank") > 0 {
				next = "rank"
			}
		}
	}
	return partly
}

// checkSums compares the sums of the ranks with their summands, and reports whether the
// journal is applied in part.
func checkSums(t *testing.T, seed uint64, db *txn.DB) (partly bool) {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	v, err := tx.Get(t.Context(), schema.AppRow, schema.RankJournal)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := schema.DecodeJournal(v.Data)
	if err != nil {
		t.Fatal(err)
	}
	g, err := observers.ReadRankGraph(t.Context(), tx)
	if err != nil {
		t.Fatalf("seed %d, %d parts of %d applied: %v", seed, journal.Next, journal.Parts, err)
	}
	in, err := g.Inflows(t.Context(), g.Pushed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range in {
		if math.Abs(in[i]-g.In[i]) > 1e-9*(1+in[i]) {
			t.Fatalf("seed %d, %d parts of %d applied: the sum at %d is %v, its summands %v", seed, journal.Next, journal.Parts, i, g.In[i], in[i])
		}
	}
	return journal.Next > 0
}
