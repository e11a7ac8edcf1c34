package opensearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/opensearchtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(opensearchtest.Main{M: m}) }

// openTest makes an empty index on the server of the package.
func openTest(t *testing.T) (*Index, Address) {
	t.Helper()
	server := opensearchtest.Shared(t)
	a, err := ParseAddress(prefix + server.URL + "/" + strings.ToLower(t.Name()) + "?replicas=0")
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(a, Options{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
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

// history is what a pipeline sends, in order. Clusters change, disappear and come back, and
// URLs move between them; in every state a URL belongs to one cluster.
type history struct {
	changes []index.Change
	ranks   []index.RankUpdate
	touches []index.Touch
}

var vocabulary = strings.Fields(`lighthouse keeper museum harbour storm lamp lens fog signal island boat rope anchor chart
	tide reef gull wreck cliff beacon tower stairs oil wick brass clock letter winter summer night morning keepers lamps storms
	light's Leuchtturm Wärter Küste 灯台 海岸 the of and`)

func words(rnd *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = vocabulary[rnd.IntN(len(vocabulary))]
	}
	return strings.Join(list, " ")
}

func randomHistory(rnd *rand.Rand, steps int) (h history) {
	const clusters = 40
	holder := make(map[page.URL]int) // URL → cluster
	shown := make(map[int]*index.Document)
	for seq := uint64(1); seq <= uint64(steps); seq++ {
		n := rnd.IntN(clusters)
		key := page.ContentKey{0: byte(n), 31: 1}
		old := shown[n]
		if old != nil && rnd.IntN(4) == 0 {
			h.changes = append(h.changes, index.Delete(key, seq))
			delete(holder, old.URL)
			delete(shown, n)
			continue
		}
		u := page.URL(fmt.Sprintf("https://host%d.example/%s/%d.html", rnd.IntN(6), vocabulary[rnd.IntN(8)], rnd.IntN(20)))
		if other, taken := holder[u]; taken && other != n {
			continue
		}
		if old != nil {
			delete(holder, old.URL)
		}
		d := &index.Document{
			Cluster: key, Seq: seq, URL: u, Title: words(rnd, rnd.IntN(5)), Text: words(rnd, rnd.IntN(80)), Language: []string{"en", "de", "ja", ""}[rnd.IntN(4)],
			FetchedAt: time.Unix(1_700_000_000+int64(seq)*86_400, 0).UTC(), Rank: math.Round(rnd.Float64()*100) / 10,
			Members: []page.URL{u, u + "?print"}, MembersTotal: 2, Inlinks: rnd.IntN(9),
		}
		for range rnd.IntN(3) {
			d.Anchors = append(d.Anchors, index.Anchor{Text: words(rnd, 1+rnd.IntN(3)), Count: 1 + rnd.IntN(4), Others: rnd.IntN(2)})
		}
		d.Digest = [8]byte{byte(seq), byte(seq >> 8), byte(n)}
		holder[u], shown[n] = n, d
		h.changes = append(h.changes, index.Upsert(d))
	}
	// What follows is of documents that stay, as the pipeline sends it again for others.
	for n, d := range shown {
		for i := range rnd.IntN(3) {
			h.ranks = append(h.ranks, index.RankUpdate{Cluster: d.Cluster, Seq: uint64(steps + i + 1), Rank: float64(n) + float64(i)/2})
			h.touches = append(h.touches, index.Touch{Cluster: d.Cluster, URL: d.URL, FetchedAt: d.FetchedAt.Add(time.Duration(i+1) * 100 * 24 * time.Hour)})
		}
	}
	return h
}

// inOrder sends everything to index files.
func (h *history) inOrder(t *testing.T, w *index.Writer) {
	t.Helper()
	if err := w.Apply(t.Context(), h.changes); err != nil {
		t.Fatal(err)
	}
	if err := w.SetRanks(t.Context(), h.ranks); err != nil {
		t.Fatal(err)
	}
	if missing, err := w.Touch(t.Context(), h.touches); err != nil || len(missing) > 0 {
		t.Fatalf("touch: missing %v, %v", missing, err)
	}
}

// inAnyOrder sends everything to the server, shuffled, some of it twice, from several
// goroutines. Only times need their documents.
func (h *history) inAnyOrder(ctx context.Context, rnd *rand.Rand, x *Index) error {
	changes := slices.Concat(h.changes, h.changes[:len(h.changes)/2])
	rnd.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	ranks := slices.Concat(h.ranks, h.ranks)
	rnd.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
	touches := slices.Concat(h.touches, h.touches)
	rnd.Shuffle(len(touches), func(i, j int) { touches[i], touches[j] = touches[j], touches[i] })
	var work sync.WaitGroup
	errs := make(chan error, 1000)
	send := func(do func() error) {
		work.Go(func() {
			if err := do(); err != nil {
				errs <- err
			}
		})
	}
	for part := range slices.Chunk(changes, 1+len(changes)/5) {
		send(func() error {
			for some := range slices.Chunk(part, 7) {
				if err := x.Apply(ctx, some); err != nil {
					return err
				}
			}
			return nil
		})
	}
	send(func() error { return x.SetRanks(ctx, ranks) })
	work.Wait()
	missing, err := x.Touch(ctx, touches)
	if len(missing) > 0 {
		err = errors.Join(err, fmt.Errorf("no documents for %v", missing))
	}
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}

// sameDocuments compares all documents, and the sums.
func sameDocuments(t *testing.T, x *Index, r *index.Reader) {
	t.Helper()
	list := func(v interface {
		Documents(context.Context, func(index.Document) error) error
	}) map[page.ContentKey]index.Document {
		found := make(map[page.ContentKey]index.Document)
		err := v.Documents(t.Context(), func(d index.Document) error {
			found[d.Cluster] = d
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	theirs, err := x.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ours, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if a, b := theirs.State(), ours.State(); a.Documents != b.Documents || a.Sum != b.Sum {
		t.Errorf("OpenSearch has %d documents with the sum %x, the files %d with %x", a.Documents, a.Sum, b.Documents, b.Sum)
	}
	got, want := list(theirs), list(ours)
	for key, w := range want {
		if g := got[key]; fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("cluster %x is on OpenSearch\n%+v\nand in the files\n%+v", key[:1], g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d documents, want %d", len(got), len(want))
	}
	if err := theirs.Check(t.Context()); err != nil {
		t.Error(err)
	}
	entries := 0
	for e, err := range theirs.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if d := want[e.Cluster]; d.URL != e.URL || d.Rank != e.Rank || !d.FetchedAt.Equal(e.FetchedAt) || d.Digest != e.Digest {
			t.Errorf("entry %+v of %+v", e, d)
		}
		entries++
	}
	if entries != len(want) {
		t.Errorf("%d entries, want %d", entries, len(want))
	}
}

// searchers are the server and the files.
func searchers(t *testing.T, a Address, r *index.Reader) (*index.Shards, *index.Reader) {
	t.Helper()
	s, err := OpenShard(a, Options{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return index.NewShards([]index.ShardSource{s}), r
}

// sameHits asks both the same question.
func sameHits(t *testing.T, q string, opts index.Options, theirs *index.Shards, ours *index.Reader) (hits int) {
	t.Helper()
	want, wrong := ours.Search(t.Context(), q, opts)
	got, err := theirs.Search(t.Context(), q, opts)
	if usage := (*index.UsageError)(nil); errors.As(wrong, &usage) && errors.As(err, &usage) {
		return 0
	}
	if err := errors.Join(err, wrong); err != nil {
		t.Fatalf("%q: %v", q, err)
	}
	for _, r := range []*index.Results{got, want} {
		r.TookMS = 0
		for i := range r.Hits {
			h := &r.Hits[i]
			h.IndexedAt = time.Time{} // the server does not know it
			h.Score = math.Round(h.Score*1e9) / 1e9
			if e := h.Explanation; e != nil {
				for _, x := range []*float64{&e.Text, &e.Columns.Title, &e.Columns.Body, &e.Columns.Anchors, &e.Columns.Outside, &e.Columns.URL} {
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

func text(r *index.Results) string {
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
			opts := index.Options{Limit: 1 + rnd.IntN(20), Offset: rnd.IntN(2) * rnd.IntN(10), PerHost: rnd.IntN(3), Explain: rnd.IntN(2) == 0, NoSuggestion: true, Sort: index.Sort(rnd.IntN(4) / 3)}
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
	x, a := openTest(t)
	w, r := files(t)
	for i := range 6 {
		d := &index.Document{Cluster: page.ContentKey{0: byte(i)}, Seq: uint64(i + 1), URL: page.URL(fmt.Sprintf("https://a.example/%d", i)),
			Title: "Lighthouse museum", Text: "The keeper of the lighthouse lives in a café near the harbour.", Language: "en"}
		if err := errors.Join(w.Apply(t.Context(), []index.Change{index.Upsert(d)}), x.Apply(t.Context(), []index.Change{index.Upsert(d)})); err != nil {
			t.Fatal(err)
		}
	}
	theirs, ours := searchers(t, a, r)
	for _, q := range []string{"lighthuose", "lighthouse muesum", "keper harbor", "Keepper", "qwertz", `"museum lighthouse"`} {
		sameHits(t, q, index.Options{}, theirs, ours)
	}
	if res := must(theirs.Search(t.Context(), "lighthuose", index.Options{})); res.ShowingFor != "lighthouse" {
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
				if res, err := theirs.Search(t.Context(), "rope", index.Options{}); err != nil || res.Total != 20 {
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

// TestForeign: an index of somebody else is neither read nor written.
func TestForeign(t *testing.T) {
	x, a := openTest(t)
	other := Address{base: a.base, name: "somebody-elses", shards: 1}
	y := must(Open(other, Options{}))
	defer y.Close()
	if err := x.c.call(t.Context(), "PUT", "/"+other.name, object{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := y.Inspect(t.Context()); !errors.Is(err, index.ErrForeign) {
		t.Errorf("Inspect: %v", err)
	}
	if _, err := y.Begin(t.Context(), "test"); !errors.Is(err, index.ErrForeign) {
		t.Errorf("Begin: %v", err)
	}
	if err := x.remove(t.Context(), x.target().name); err != nil { // by somebody
		t.Fatal(err)
	}
	if err := x.Apply(t.Context(), []index.Change{index.Delete(page.ContentKey{}, 1)}); !errors.Is(err, index.ErrUnusable) {
		t.Errorf("a write to an index that was removed: %v", err)
	}
	if s, err := x.Inspect(t.Context()); err != nil || s.ID != "" {
		t.Errorf("the write has made an index: %+v, %v", s, err)
	}
}

// TestUnreachable: without a server there is an error that says so, soon.
func TestUnreachable(t *testing.T) {
	x := must(Open(must(ParseAddress(prefix+"http://127.0.0.1:1/name")), Options{Patience: time.Millisecond}))
	defer x.Close()
	_, err := x.Inspect(t.Context())
	if !errors.Is(err, index.ErrUnavailable) || !strings.Contains(err.Error(), "cannot reach OpenSearch at http://127.0.0.1:1/name") {
		t.Error(err)
	}
}

// TestAddress: which settings name an index. Errors never show a password.
func TestAddress(t *testing.T) {
	for setting, want := range map[string]string{
		"opensearch+http://127.0.0.1:9200/pages":                            "",
		"opensearch+https://search.example/web-index.1?shards=4&replicas=2": "",
		"opensearch+http://127.0.0.1:9200/":                                 "lower-case letters",
		"opensearch+http://127.0.0.1:9200/Pages":                            "lower-case letters",
		"opensearch+http://127.0.0.1:9200/_all":                             "lower-case letters",
		"opensearch+http://127.0.0.1:9200/a/b":                              "lower-case letters",
		"opensearch+ftp://127.0.0.1/pages":                                  "want opensearch+http",
		"opensearch+http:///pages":                                          "want opensearch+http",
		"opensearch+https://me:secret@search.example/pages":                 "must not hold a user",
		"opensearch+https://me:sec ret%zz@search.example/pages":             "want opensearch+http",
		"opensearch+http://h/pages?shards=0":                                "shards=0 is not allowed",
		"opensearch+http://h/pages?size=1":                                  "size=1 is not allowed",
	} {
		_, err := ParseAddress(setting)
		if got := fmt.Sprint(cmp.Or(err, errors.New(""))); want == "" && err != nil || !strings.Contains(got, want) || strings.Contains(got, "sec") {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
