package repository_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// TestAnyOrder checks what ranks promise: after one crawl, two, and three of the same
// sites, in any order and any concurrency, with kills, they are within 1 % of the exact
// solution for every URL above rank 1, and within 0.01 below; canonical URLs are equal
// wherever the two highest ranks differ by more than 2 %; the rest of the export is exact.
//
// A directory gets its fetches from processes that are killed one after the other, each
// with an order, a number of workers, a commit path and a tolerance of its own. One
// directory gets one crawl after the other, with a check of each; others get all of
// them mixed. Exact ranks are computed here, by another method; package batch derives
// canonical URLs and inlinks from them. With INDEXER_LONG=1 the test loads all six sites,
// which also have answers of another program.
func TestAnyOrder(t *testing.T) {
	rnd, wants := testenv.Random(t), make(map[string]string)
	t.Run("own webs", func(t *testing.T) {
		for range testenv.Size(1, 2, 6) {
			(&anyOrder{rnd: rnd, dir: t.TempDir(), kills: 4, wants: wants}).stage(t, "", ownWebs)
		}
	})
	t.Run("weak links", func(t *testing.T) {
		for range testenv.Size(1, 3, 12) {
			a := &anyOrder{rnd: rnd, dir: t.TempDir(), kills: 3, wants: wants, coarse: true}
			a.stage(t, "", fmt.Sprint(weak, rnd.Uint64()))
		}
	})
	t.Run("giant cluster", func(t *testing.T) {
		for range testenv.Size(0, 1, 2) {
			a := &anyOrder{rnd: rnd, dir: t.TempDir(), kills: 4, wants: wants, coarse: true}
			a.stage(t, "", fmt.Sprint(giants, rnd.Uint64()))
		}
	})
	hosts, kills, mixed := []string{"community"}, 1, 1
	if testenv.Long() {
		hosts, kills, mixed = []string{"community", "flink", "httpd", "incubator", "kafka", "lucene"}, 4, 3
	}
	t.Run("crawls", func(t *testing.T) {
		if testing.Short() {
			t.Skip("a minute of work")
		}
		corpusPart(t, []string{"t0"}, hosts...)
		one := &anyOrder{rnd: rnd, dir: t.TempDir(), kills: kills, wants: wants}
		for i, label := range []string{"t0", "t0+t1", "t0+t1+t2"} {
			one.stage(t, label, corpusPart(t, []string{fmt.Sprint("t", i)}, hosts...))
		}
		for range mixed {
			all := &anyOrder{rnd: rnd, dir: t.TempDir(), kills: kills, wants: wants}
			all.stage(t, "t0+t1+t2", corpusPart(t, []string{"t0", "t1", "t2"}, hosts...))
		}
	})
}

// anyOrder is a directory that gets more and more fetches.
type anyOrder struct {
	rnd     *rand.Rand
	dir     string
	kills   int
	fetches []page.Fetch // so far
	// coarse processes have tolerances up to 0.1. The digest must be the same.
	coarse bool
	// wants are the digests of undisturbed runs, by what was loaded.
	wants map[string]string
}

// stage lets processes load a web, and checks the result. The label names answers of
// another program, if there are any.
func (a *anyOrder) stage(t *testing.T, label, web string) {
	t.Helper()
	more := mustReadWeb(t, web)
	a.fetches = append(a.fetches, more...)
	var how []string
	for range a.kills {
		m := moment{saysLoad, 1 + a.rnd.IntN(len(more))}
		if a.rnd.IntN(3) == 0 {
			m = moment{saysRuns, 1 + a.rnd.IntN(12)}
		}
		s, options := a.child(t, web, m)
		how = append(how, fmt.Sprintf("%s, %s %d: killed %t", options, m.event, m.n, s.killed))
	}
	s, options := a.child(t, web, moment{})
	how = append(how, options)
	t.Logf("%s: %s", cmp.Or(label, web), strings.Join(how, "; "))
	opts := repository.Options{}
	if a.coarse {
		opts.RankTolerance = schema.DefaultRankTolerance
	}
	r := open(t, a.dir, opts)
	defer closeNow(t, r)
	wantSound(t, r, s.digest)
	a.check(t, r)
	if testenv.Long() && label != "" {
		checkAnswers(t, r, label)
	}
	want, known := a.wants[cmp.Or(label, web)]
	if !known {
		want = undisturbed(t, a.fetches)
		a.wants[cmp.Or(label, web)] = want
	}
	if s.digest != want {
		t.Errorf("digest %s, want %s", s.digest, want)
	}
}

// child runs a process of random options until the moment.
func (a *anyOrder) child(t *testing.T, web string, m moment) (story, string) {
	t.Helper()
	mode := []txn.Mode{txn.OnePhase, txn.TwoPhase}[a.rnd.IntN(2)]
	tolerances := []float64{0.0025, 0.001, 0.01, 0}
	if a.coarse {
		tolerances = []float64{0.1, 0.05, 0.001, 0}
	}
	env := []string{
		fmt.Sprint(childWorkers, "=", []int{1, 2, 16}[a.rnd.IntN(3)]),
		fmt.Sprint(childTolerance, "=", tolerances[a.rnd.IntN(4)]),
		fmt.Sprint(childOrder, "=", a.rnd.Uint64()),
	}
	s := startChild(t, a.dir, web, mode, with(env...)).listen(m)
	if s.failed != "" {
		t.Fatalf("the child failed: %s", s.failed)
	}
	return s, modeName(mode) + " " + strings.ReplaceAll(strings.Join(env, " "), "REPOSITORY_TEST_CHILD_", "")
}

// check holds ranks and export against the exact solution.
func (a *anyOrder) check(t *testing.T, r *repository.Repository) {
	t.Helper()
	b := batch.New()
	for i := range a.fetches {
		b.Add(&a.fetches[i])
	}
	web := b.Finish(nil) // for its edges
	exact := exactRanks(web)
	b = batch.New()
	for i := range a.fetches {
		b.Add(&a.fetches[i])
	}
	web = b.Finish(func(u page.URL) float64 { return exact[u] })
	a.checkRanks(t, r, web, exact)
	checkExport(t, r, web, exact)
}

// exactRanks solves the definition by sweeping over the URLs in place (Gauss-Seidel), to
// the limit of floating point. It has nothing from package rank.
func exactRanks(web *batch.Repository) map[page.URL]float64 {
	var urls []page.URL
	sources := make(map[page.URL][]page.URL)
	outdegree := make(map[page.URL]float64)
	for u := range web.URLs() {
		urls = append(urls, u.URL)
		for _, target := range u.Edges() {
			sources[target] = append(sources[target], u.URL)
			outdegree[u.URL]++
		}
	}
	number := make(map[page.URL]int, len(urls))
	for i, u := range urls {
		number[u] = i
	}
	rank, in, out := make([]float64, len(urls)), make([][]int, len(urls)), make([]float64, len(urls))
	for i, u := range urls {
		rank[i], out[i] = 0.15, outdegree[u]
		for _, s := range sources[u] {
			in[i] = append(in[i], number[s])
		}
	}
	for change := 1.0; change > 1e-13; {
		change = 0
		for i := range rank {
			sum := 0.0
			for _, s := range in[i] {
				sum += rank[s] / out[s]
			}
			now := 0.15 + 0.85*sum
			change, rank[i] = max(change, math.Abs(now-rank[i])/now), now
		}
	}
	exact := make(map[page.URL]float64, len(urls))
	for i, u := range urls {
		exact[u] = rank[i]
	}
	return exact
}

func (a *anyOrder) checkRanks(t *testing.T, r *repository.Repository, web *batch.Repository, exact map[page.URL]float64) {
	t.Helper()
	q, err := r.Quiet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	above, worst := 0, 0.0
	for u := range web.URLs() {
		got, err := observers.RankOf(t.Context(), q.Tx, u.URL)
		if err != nil {
			t.Fatal(err)
		}
		want := exact[u.URL]
		off := math.Abs(got - want)
		if want > 1 {
			above++
			off /= want
		}
		worst = max(worst, off)
		if !(off <= 0.01) {
			t.Errorf("the rank of %s is %g, exactly it is %g", u.URL, got, want)
		}
	}
	t.Logf("%d URLs, %d with a rank above 1; the worst is off by %.5f", len(exact), above, worst)
}

// checkExport compares documents by their clusters.
func checkExport(t *testing.T, r *repository.Repository, web *batch.Repository, exact map[page.URL]float64) {
	t.Helper()
	docs, _ := exportLines(t, r)
	exported := make(map[string]export.Document)
	for _, d := range docs {
		exported[d.ContentKey] = d
	}
	clusters, near := 0, 0
	for c := range web.Index() {
		clusters++
		got, ok := exported[fmt.Sprintf("%x", c.Key[:])]
		if !ok {
			t.Errorf("the document of %s is missing", c.Canonical)
			continue
		}
		if apart(c, web, exact) {
			checkText(t, &got, web.URL(c.Canonical))
		} else {
			near++
		}
		if !slices.Equal(got.Members, c.Members) {
			t.Errorf("the members of %s are %q, want %q", got.URL, got.Members, c.Members)
		}
		var links []batch.Inlink
		for _, l := range got.Inlinks {
			links = append(links, batch.Inlink{Source: l.Source, Target: l.Target, Anchor: l.Anchor})
		}
		if !slices.Equal(links, c.Inlinks) {
			t.Errorf("%s has %d inlinks, want %d, or others", got.URL, len(links), len(c.Inlinks))
		}
	}
	if len(docs) != clusters || clusters == 0 {
		t.Errorf("%d documents, want %d", len(docs), clusters)
	}
	t.Logf("%d documents, %d of clusters whose two highest ranks are within 2 %%", clusters, near)
}

// checkText compares what a document shows of its canonical URL.
func checkText(t *testing.T, got *export.Document, want *batch.URL) {
	t.Helper()
	d := &want.Document
	if got.URL != want.URL || got.Title != d.Title || got.Text != d.Text || got.Language != d.Language {
		t.Errorf("the document of %s is %s, %q in %q with %d bytes, want %q in %q with %d",
			want.URL, got.URL, got.Title, got.Language, len(got.Text), d.Title, d.Language, len(d.Text))
	}
}

// apart reports that the two highest ranks among those who can be canonical differ by
// more than 2 %, or are equal.
func apart(c *batch.Cluster, web *batch.Repository, exact map[page.URL]float64) bool {
	var ranks []float64
	for _, m := range c.Members {
		if u := web.URL(m); u.Terminal == m && !u.Document.NoIndex {
			ranks = append(ranks, exact[m])
		}
	}
	slices.Sort(ranks)
	if len(ranks) < 2 {
		return true
	}
	first, second := ranks[len(ranks)-1], ranks[len(ranks)-2]
	return first > 1.02*second || first-second < 1e-9*first
}
