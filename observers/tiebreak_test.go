package observers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// rivals is a cluster of two pages, m (preferred) and mm, that have their rank from a
// hub each. Contributors give the hubs so little each that with a coarse tolerance it
// stays there until some have come: the published ranks hover about the true ones.
type rivals struct {
	t     *testing.T
	rig   *webtest.Rig
	sink  *webtest.Sink
	file  webtest.GraphFile
	graph *observers.GraphCache
	// warnings are those of the cache.
	warnings []string
	fetches  []*page.Fetch
	pick     func(n int) int // of the runs that are ready; nil: the first
}

const (
	rivalTolerance = 0.1
	rivalLinks     = 20 // of a contributor, one of them to a hub
)

func newRivals(t *testing.T) *rivals {
	r := &rivals{t: t, sink: webtest.NewSink()}
	r.open(nil)
	r.load("a.example/m at=1 page text=same", "a.example/mm at=1 page text=same",
		"a.example/h at=1 page text=h link=a.example/m,", "a.example/hh at=1 page text=hh link=a.example/mm,")
	return r
}

// open opens a rig with a new cache of the link graph.
func (r *rivals) open(table store.Table) {
	r.t.Helper()
	r.graph = observers.NewGraphCache(&r.file, func(what string, err error) { r.warnings = append(r.warnings, what+": "+err.Error()) })
	var err error
	if r.rig, err = webtest.Open(r.t.Context(), webtest.Options{Tolerance: rivalTolerance, Sink: r.sink, Graph: r.graph, Table: table}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rivals) close() {
	if err := r.rig.Close(); err != nil {
		r.t.Error(err)
	}
}

// load loads fetches and lets everything come to rest after each.
func (r *rivals) load(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		f, err := webtest.ParseFetch(line)
		if err == nil {
			_, err = r.rig.Load(r.t.Context(), f)
		}
		if err == nil {
			err = r.rig.Quiesce(r.t.Context(), r.pick)
		}
		if err != nil {
			r.t.Fatal(err)
		}
		r.fetches = append(r.fetches, f)
	}
}

// contributor returns a page that gives hub h or hh a twentieth of its rank.
func contributor(i, at int, hub string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "c.example/%d at=%d page text=c%d link=a.example/%s,", i, at, i, hub)
	for k := range rivalLinks - 1 {
		fmt.Fprintf(&b, " link=f.example/%d,", k)
	}
	return b.String()
}

// check compares with the batch.
func (r *rivals) check(when string) {
	r.t.Helper()
	diff, err := webtest.Differences(r.t.Context(), r.rig.DB, r.sink.Documents(), r.fetches, webtest.Comparison{})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(diff) > 0 {
		r.t.Fatalf("%s: differs from the batch:\n%s", when, strings.Join(diff, "\n"))
	}
}

// canonical returns the URL shown, and whether its choice was contested.
func (r *rivals) canonical() (shown page.URL, contested bool) {
	r.t.Helper()
	for _, d := range r.sink.Documents() {
		if d.MembersTotal == 2 {
			shown = d.URL
		}
	}
	tx, err := r.rig.DB.Begin(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	defer tx.Rollback()
	err = tx.Scan(r.t.Context(), schema.GroupChoice, "", "", func(string, []txn.Version) error {
		contested = true
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return shown, contested
}

// TestTiebreak brings both ranks up in random order, to just above and just below 0.99 of
// each other. m has 0.2775 + 0.00541875·n with n contributors, mm the same with 120:
// 0.99 of that needs n = 118.3.
func TestTiebreak(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(1, 2, 20))) {
		n, want := 118, "https://a.example/mm"
		if seed%2 == 1 {
			n, want = 119, "https://a.example/m"
		}
		r := newRivals(t)
		random := rand.New(rand.NewPCG(seed, 5))
		for k, i := range random.Perm(n + 120) {
			hub := "h"
			if i >= n {
				hub = "hh"
			}
			r.load(contributor(i, 2+k, hub))
		}
		r.check(fmt.Sprint("seed ", seed))
		shown, contested := r.canonical()
		if string(shown) != want || !contested {
			t.Errorf("seed %d: %s is shown, want %s; contested: %t", seed, shown, want, contested)
		}
		r.close()
	}
}

// TestNoFlapping moves one contributor back and forth across the boundary. The document
// moves when the batch says that it does, and at no other time.
func TestNoFlapping(t *testing.T) {
	r := newRivals(t)
	defer r.close()
	at := 2
	for i := range 118 + 120 {
		hub := "h"
		if i >= 118 {
			hub = "hh"
		}
		r.load(contributor(i, at, hub))
		at++
	}
	last, moves, wanted := page.URL(""), 0, 0
	for step, n := range []int{119, 118, 119, 120, 121, 120, 119, 118, 117, 118, 119} {
		want := page.URL("https://a.example/mm")
		if n >= 119 {
			want = "https://a.example/m"
		}
		applied := r.sink.Moves()
		for i := 117; i < 121; i++ {
			number := i
			if i > 117 { // beyond those for m at the beginning
				number += 1000
			}
			line := fmt.Sprintf("c.example/%d at=%d gone", number, at)
			if i < n {
				line = contributor(number, at, "h")
			}
			r.load(line)
			at++
		}
		r.check(fmt.Sprint("step ", step))
		shown, _ := r.canonical()
		if shown != want {
			t.Errorf("step %d: %s is shown with %d contributors, want %s", step, shown, n, want)
		}
		if last != "" {
			moves += r.sink.Moves() - applied
			if shown != last {
				wanted++
			}
		}
		last = shown
	}
	if moves > wanted {
		t.Errorf("the document moved %d times, for %d changes", moves, wanted)
	}
	t.Logf("%d moves for %d changes", moves, wanted)
}

// TestGraphCache reads the link graph once, and then only what has changed, also in the next process,
// until the file is damaged, or that of another directory.
func TestGraphCache(t *testing.T) {
	r := newRivals(t)
	for i := range 240 {
		hub := "h"
		if i >= 120 {
			hub = "hh"
		}
		r.load(contributor(i, 2+i, hub))
	}
	if _, contested := r.canonical(); !contested {
		t.Fatal("the choice is not contested")
	}
	first, _, ok := r.graph.Notes()
	if !ok {
		t.Fatal("the link graph is not in the file")
	}
	state := func(when string) (written bool) {
		r.check(when)
		last := first
		if first, _, ok = r.graph.Notes(); !ok {
			t.Fatalf("%s: the file is void", when)
		}
		return first != last
	}

	r.load("c.example/0 at=300 gone")
	once := state("one page is gone")
	r.load("c.example/1 at=301 gone")
	if twice := state("two pages are gone"); once && twice {
		t.Error("the file was written again after each change of one page in 240")
	}

	stored, rows, _ := r.graph.Notes()
	r.close()
	r.open(r.rig.Table())
	r.graph.Restore(stored, rows)
	r.load("c.example/2 at=302 gone")
	state("after a restart")
	if len(r.warnings) > 0 {
		t.Errorf("warnings: %q", r.warnings)
	}

	none := func(func(pagerank.Node, error) bool) {}
	foreign, err := pagerank.BuildLinkGraph(none, func(func(pagerank.Change, error) bool) {})
	if err != nil {
		t.Fatal(err)
	}
	for i, content := range [][]byte{[]byte("damaged"), foreign.Encode()} {
		r.file.Content = content
		r.load(fmt.Sprintf("c.example/%d at=303 gone", 3+i))
		if !state(fmt.Sprintf("with the file %.20q", content)) || len(r.warnings) != i+1 || !strings.Contains(r.warnings[i], "content") {
			t.Errorf("with the file %.20q, warnings: %q", content, r.warnings)
		}
	}
	r.close()
}

// TestChoiceByExactRanks: a choice is made although the cached ranks are exact, so that nothing is
// left to compute.
func TestChoiceByExactRanks(t *testing.T) {
	r := newRivals(t)
	defer r.close()
	r.load(contributor(0, 2, "hh"))
	r.load("a.example/n at=3 page text=same") // wakes settle and changes no edges
	r.check("after a page without links")
}
