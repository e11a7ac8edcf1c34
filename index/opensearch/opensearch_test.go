package opensearch

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/opensearchtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(opensearchtest.Main{M: m}) }

// openTest makes an empty index on the server of the package.
func openTest(t *testing.T) (*Index, Address) {
	t.Helper()
	return openDivided(t, 1)
}

// openDivided makes an empty index with a number of shards.
func openDivided(t *testing.T, shards int) (*Index, Address) {
	t.Helper()
	server := opensearchtest.Shared(t)
	a, err := ParseAddress(fmt.Sprintf("%s%s/%s?replicas=0&shards=%d", prefix, server.URL, strings.ToLower(t.Name()), shards))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(a, Options{RetryFor: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, x)
	build(t, x, nil)
	return x, a
}

// build makes a new index with some documents the one in use.
func build(t *testing.T, x *Index, changes []index.Change) {
	t.Helper()
	next, err := x.Begin(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if err := next.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := x.Inspect(t.Context()); err != nil || s.ID != "test" || s.Rebuild != "" {
		t.Fatalf("the new index: %+v, %v", s, err)
	}
}

// files are index files that get what the server gets.
func files(t *testing.T) (*index.Writer, *index.Reader) {
	t.Helper()
	dir := t.TempDir()
	w, err := index.OpenWriter(t.Context(), dir, index.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := index.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	})
	return w, r
}

// searchers returns the server and the files.
func searchers(t *testing.T, a Address, r *index.Reader) (*search.Shards, *index.Reader) {
	t.Helper()
	s, err := OpenShard(a, Options{RetryFor: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if have, err := s.Prepare(t.Context()); err != nil || have.Rebuild != "" {
		t.Fatal(have.Rebuild, err)
	}
	t.Cleanup(func() { s.Close() })
	return search.NewShards([]search.ShardSource{s}), r
}

// sameHits asks both the same question.
func sameHits(t *testing.T, q string, opts search.Options, theirs *search.Shards, ours *index.Reader) (hits int) {
	t.Helper()
	want, wrong := ours.Search(t.Context(), q, opts)
	got, err := theirs.Search(t.Context(), q, opts)
	if usage := (*search.UsageError)(nil); errors.As(wrong, &usage) && errors.As(err, &usage) {
		return 0
	}
	if err := errors.Join(err, wrong); err != nil {
		t.Fatalf("%q: %v", q, err)
	}
	for _, r := range []*search.Results{got, want} {
		r.TookMS = 0
		for i := range r.Hits {
			h := &r.Hits[i]
			h.IndexedAt = time.Time{} // the server does not know it
			h.Score = math.Round(h.Score*1e9) / 1e9
			if e := h.Explanation; e != nil {
				for _, x := range []*float64{&e.Text, &e.Columns.Title, &e.Columns.Body, &e.Columns.Anchors, &e.Columns.Outside, &e.Columns.URL, &e.Columns.Rest} {
					*x = math.Round(*x*1e9) / 1e9
				}
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q finds on OpenSearch\n%s\nand in the files\n%s", q, text(got), text(want))
	}
	return len(want.Hits)
}

func text(r *search.Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d, %d with all words, ignored %d, did you mean %q, for %q, %q\n", r.Total, r.AllWords, r.Ignored, r.Suggestion, r.ShowingFor, r.Notes)
	for _, h := range r.Hits {
		fmt.Fprintf(&b, "%+v", h)
		if h.Explanation != nil {
			fmt.Fprintf(&b, " %+v", *h.Explanation)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestAnyOrder: whatever the order, and however often a change comes, the server ends up with
// what index files have that got everything in order. It then finds the same.
func TestAnyOrder(t *testing.T) {
	for seed := range testenv.Seeds(t, 1, uint64(testenv.Size(1, 2, 30))) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		x, a := openTest(t)
		w, r := files(t)
		h := randomHistory(rnd, 300)
		h.inOrder(t, w)
		if err := h.inAnyOrder(t.Context(), rnd, x); err != nil {
			t.Fatal(err)
		}
		sameDocuments(t, x, r)
		theirs, ours := searchers(t, a, r)
		found := 0
		for range testenv.Size(10, 80, 400) {
			opts := search.Options{Limit: 1 + rnd.IntN(20), Offset: rnd.IntN(2) * rnd.IntN(10), PerHost: rnd.IntN(3), Explain: rnd.IntN(2) == 0, NoSuggestion: true, Sort: search.Sort(rnd.IntN(4) / 3)}
			found += sameHits(t, randomQuery(rnd), opts, theirs, ours)
		}
		if found < 50 {
			t.Errorf("%d hits, which tells nothing", found)
		}
		t.Logf("seed %d: the same %d hits", seed, found)
		if got, want := must(theirs.Filters(t.Context())), must(ours.Filters(t.Context())); !reflect.DeepEqual(got, want) {
			t.Errorf("filters %+v, want %+v", got, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func randomQuery(rnd *rand.Rand) string {
	var parts []string
	for range 1 + rnd.IntN(3) {
		w := words(rnd, 1)
		switch rnd.IntN(9) {
		case 0:
			w = `"` + words(rnd, 2) + `"`
		case 1:
			w = "-" + w
		case 2:
			w = "intitle:" + w
		case 3:
			w = "inurl:" + w
		case 4:
			w = "(" + w + " OR " + words(rnd, 1) + ")"
		}
		parts = append(parts, w)
	}
	switch rnd.IntN(8) {
	case 0:
		parts = append(parts, "site:host1.example")
	case 1:
		parts = append(parts, "lang:de")
	case 2:
		parts = append(parts, []string{"after:2024-03", "before:2024-06", "after:2023-12 before:2024-08"}[rnd.IntN(3)])
	case 3:
		return []string{"site:host2.example", "filetype:html", "lang:en after:2024", "before:2024-05", "-site:host1.example lang:ja"}[rnd.IntN(5)]
	}
	return strings.Join(parts, " ")
}

// TestSuggestions: misspelled words are corrected by words of the documents.
func TestSuggestions(t *testing.T) {
	x, a := openDivided(t, 4)
	w, r := files(t)
	for i := range 6 {
		d := &index.Document{Cluster: page.ContentKey{0: byte(i)}, Seq: uint64(i + 1), URL: page.URL(fmt.Sprintf("https://a.example/boat/%d", i)),
			Title: "Lighthouse museum", Text: "The keeper of the lighthouse lives in a café near the harbour, and has boots.", Language: "en"}
		if i > 3 {
			d.Text += " His boats have lanterns."
		}
		if err := errors.Join(w.Apply(t.Context(), []index.Change{index.Upsert(d)}), x.Apply(t.Context(), []index.Change{index.Upsert(d)})); err != nil {
			t.Fatal(err)
		}
	}
	theirs, ours := searchers(t, a, r)
	for _, q := range []string{"lighthuose", "lighthouse muesum", "keper harbor", "Keepper", "qwertz", `"museum lighthouse"`, "lnaterns", "inurl:boots"} {
		sameHits(t, q, search.Options{}, theirs, ours)
	}
	if res := must(theirs.Search(t.Context(), "lighthuose", search.Options{})); res.ShowingFor != "lighthouse" {
		t.Errorf("showing results for %q, want lighthouse", res.ShowingFor)
	}
}

// TestKilled kills the server in the middle of a load and starts it again: nothing is lost
// and nothing is there twice.
func TestKilled(t *testing.T) {
	x, _ := openTest(t)
	w, r := files(t)
	rnd := testenv.Random(t)
	h := randomHistory(rnd, 400)
	h.inOrder(t, w)
	server := opensearchtest.Shared(t)
	restarted := make(chan error, 1)
	go func() {
		// Somewhere in the load: when the first documents have arrived.
		for {
			if s, err := x.c.state(t.Context(), x.c.search); err != nil || s.Documents > 0 {
				break
			}
		}
		server.Kill()
		restarted <- server.Restart()
	}()
	if err := h.inAnyOrder(t.Context(), rnd, x); err != nil {
		t.Error(err)
	}
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	sameDocuments(t, x, r)
}

// TestSwap rebuilds the index twice while queries run. None fails, and all of them find
// either the old or the new documents.
func TestSwap(t *testing.T) {
	x, a := openTest(t)
	version := func(n int) (list []index.Change) {
		for i := range 20 {
			list = append(list, index.Upsert(&index.Document{Cluster: page.ContentKey{0: byte(i)}, Seq: uint64(n*100 + i + 1), URL: page.URL(fmt.Sprintf("https://a.example/%d", i)), Title: fmt.Sprintf("rope version%d", n)}))
		}
		return list
	}
	build(t, x, version(1))
	_, r := files(t)
	theirs, _ := searchers(t, a, r)
	stop := make(chan struct{})
	var work sync.WaitGroup
	asked := make([]int, 3)
	for i := range asked {
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				asked[i]++
				if res, err := theirs.Search(t.Context(), "rope", search.Options{}); err != nil || res.Total != 20 {
					t.Errorf("%+v, %v", res, err)
					return
				}
			}
		})
	}
	for n := range testenv.Size(2, 3, 10) {
		build(t, x, version(n+2))
	}
	close(stop)
	work.Wait()
	t.Logf("%v searches meanwhile", asked)
	if names := must(x.list(t.Context(), a.name+"-*")); len(names) != 1 {
		t.Errorf("indices left over: %v", names)
	}
}

// TestForeign: an index of another program is neither read nor written.
func TestForeign(t *testing.T) {
	x, a := openTest(t)
	other := Address{base: a.base, name: "somebody-elses", shards: 1}
	y := must(Open(other, Options{}))
	defer y.Close()
	if err := x.c.call(t.Context(), "PUT", "/"+other.name, object{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := y.Inspect(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Inspect: %v", err)
	}
	if _, err := y.Begin(t.Context(), "test"); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Begin: %v", err)
	}
	if err := x.remove(t.Context(), x.target().name); err != nil { // by some other program
		t.Fatal(err)
	}
	if err := x.Apply(t.Context(), []index.Change{index.Delete(page.ContentKey{}, 1)}); !errors.Is(err, index.ErrUnusable) {
		t.Errorf("a write to an index that was removed: %v", err)
	}
	if s, err := x.Inspect(t.Context()); err != nil || s.ID != "" {
		t.Errorf("the write has made an index: %+v, %v", s, err)
	}
}
