package index

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// divided is the documents of an index in several shards, and a search of all.
type divided struct {
	writers []*Writer
	sources []search.ShardSource
	*search.Shards
}

func newDivided(t testing.TB, n int) *divided {
	d := new(divided)
	for i := range n {
		dir := t.TempDir()
		d.writers = append(d.writers, openTestWriter(t, dir))
		d.sources = append(d.sources, NewLocalShard(fmt.Sprintf("shard %d of %d", i, n), openTestReader(t, dir)))
	}
	d.Shards = search.NewShards(d.sources)
	return d
}

// of returns the shard of a cluster.
func (d *divided) of(c page.ContentKey) *Writer { return d.writers[int(c[0])*len(d.writers)>>8] }

func (d *divided) apply(t testing.TB, changes ...Change) {
	t.Helper()
	parts := make(map[*Writer][]Change)
	for _, c := range changes {
		parts[d.of(c.Cluster)] = append(parts[d.of(c.Cluster)], c)
	}
	for w, part := range parts {
		apply(t, w, part...)
	}
}

// searchBoth searches an index, and wants the same results of the shards.
func searchBoth(t testing.TB, r *Reader, shards *divided, q string, o search.Options) *search.Results {
	t.Helper()
	res, err := r.Search(t.Context(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	same, err := shards.Search(t.Context(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	sameResults(t, q, same, res)
	return res
}

// sameResults compares everything but times of this machine.
func sameResults(t testing.TB, asked string, got, want *search.Results) {
	t.Helper()
	comparable := func(r search.Results) *search.Results {
		r.TookMS = 0
		r.Hits = slices.Clone(r.Hits)
		for i := range r.Hits {
			r.Hits[i].IndexedAt = time.Time{}
			r.Hits[i].Snippet = snippet.Snippet{} // a shard knows what a host repeats in its own documents (repeats.go)
		}
		return &r
	}
	got, want = comparable(*got), comparable(*want)
	if reflect.DeepEqual(got, want) {
		return
	}
	t.Errorf("%s\n got %s\nwant %s", asked, shown(got), shown(want))
}

func shown(r *search.Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "total %d, all words %d, suggestion %q for %q, notes %q, incomplete %q", r.Total, r.AllWords, r.Suggestion, r.ShowingFor, r.Notes, r.Incomplete)
	for _, h := range r.Hits {
		fmt.Fprintf(&b, "\n  %+v", h)
		if h.Explanation != nil {
			fmt.Fprintf(&b, " %+v", *h.Explanation)
		}
	}
	return b.String()
}

// TestShards: the same documents in one file and in several shards give the same results for
// random queries: hits, order, scores, totals, suggestions.
func TestShards(t *testing.T) {
	rng := testenv.Random(t)
	size, queries := testenv.Size(150, 400, 5000), testenv.Size(40, 150, 3000)
	docs := scoredChanges(size, rng)
	for i := range 9 {
		u := page.URL(fmt.Sprintf("https://site%d.example/", i))
		docs = append(docs, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Title: randomWords(rng, 2), Text: randomWords(rng, 20)}))
	}
	w := openTestWriter(t, t.TempDir())
	apply(t, w, docs...)
	one := openTestReader(t, w.dir)
	var all []*divided
	for _, n := range []int{1, 2, 5} {
		d := newDivided(t, n)
		d.apply(t, docs...)
		all = append(all, d)
	}
	text := func(n int) string { return randomWords(rng, n) }
	found, suggested := 0, 0
	for range queries {
		asked := operatorQuery(rng, text)
		switch rng.IntN(5) {
		case 0:
			asked = groupedQuery(rng, text)
		case 1:
			asked = []string{"musuem harbour", "fery", "haarbour nets", "site:site1.example", "lang:en after:2024", "xqzzy", `"harbour nothing"`}[rng.IntN(7)]
		case 2:
			asked = fmt.Sprintf("site%d%s", rng.IntN(9), []string{"", " home page", " " + text(1), " example"}[rng.IntN(4)])
		}
		asked += []string{"", " after:2024", " before:2024-06"}[rng.IntN(3)]
		o := search.Options{Limit: 1 + rng.IntN(30), PerHost: rng.IntN(4), Sort: search.Sort(rng.IntN(5) / 4), Explain: rng.IntN(2) == 0, Verbatim: rng.IntN(4) == 0, Weights: randomWeights(rng)}
		if rng.IntN(4) == 0 {
			o.Offset = rng.IntN(size)
		}
		want, wrong := one.Search(t.Context(), asked, o)
		for _, d := range all {
			got, err := d.Search(t.Context(), asked, o)
			if fmt.Sprint(err) != fmt.Sprint(wrong) {
				t.Fatalf("%s: %v, and one index: %v", asked, err, wrong)
			}
			if wrong == nil {
				sameResults(t, fmt.Sprintf("%d shards: %s (%+v)", len(d.writers), asked, o), got, want)
			}
		}
		if t.Failed() {
			return
		}
		if wrong == nil {
			found += want.Total
			suggested += len(want.Suggestion)
		}
	}
	if found == 0 || suggested == 0 && queries > 100 { // few queries may all be spelled well
		t.Error("the queries find nothing, or nothing is suggested")
	}
	for _, d := range all {
		n, err := d.Count(t.Context())
		if want, err2 := one.Count(t.Context()); n != want || err != nil || err2 != nil {
			t.Errorf("%d documents, want %d (%v, %v)", n, want, err, err2)
		}
		list, err := d.Filters(t.Context())
		if want, err2 := one.Filters(t.Context()); !reflect.DeepEqual(list, want) || err != nil || err2 != nil {
			t.Errorf("filters %v, want %v (%v, %v)", list, want, err, err2)
		}
	}
}

// TestTiedShards: documents of equal scores, more than a result has, come in the same order.
func TestTiedShards(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	d := newDivided(t, 3)
	var changes []Change
	for i := range 2 * ranked {
		u := page.URL(fmt.Sprintf("https://site%d.example/%d", i%7, i*7919%1000))
		changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Text: "harbour harbour", Rank: float64(i % 3)}))
	}
	apply(t, w, changes...)
	d.apply(t, changes...)
	one := openTestReader(t, w.dir)
	for _, o := range []search.Options{{}, {Limit: 200}, {PerHost: 2}, {Offset: 90, Limit: 20}, {Sort: search.ByDate}} {
		want, err := one.Search(t.Context(), "harbour", o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Search(t.Context(), "harbour", o)
		if err != nil {
			t.Fatal(err)
		}
		sameResults(t, fmt.Sprintf("%+v", o), got, want)
	}
}

// TestMovedBetweenShards: while a URL moves from a cluster of one shard to a cluster of another one,
// both have it, with other texts and so with other scores. A result shows it once.
func TestMovedBetweenShards(t *testing.T) {
	d := newDivided(t, 2)
	words := strings.Repeat("tides of the harbour, as the keeper of the lighthouse wrote them down; ", 20)
	for i, w := range d.writers {
		cluster := func(n int) page.ContentKey { return page.ContentKey{byte(128 * i), byte(n)} }
		moves := Document{Cluster: cluster(0), Seq: 1, URL: "https://moves.example/", Title: "Harbour " + strings.Repeat("old ", i), Text: words[:len(words)>>i]}
		apply(t, w, Upsert(&moves))
		for n := 1; n < 5; n++ {
			apply(t, w, Upsert(&Document{Cluster: cluster(n), Seq: 1, URL: page.URL(fmt.Sprintf("https://stays%d-%d.example/", i, n)), Title: "Harbour", Text: words[:len(words)*3/4] + fmt.Sprint(i, n)}))
		}
	}
	for _, q := range []string{"harbour", "harbour tides", "tides walrus", `"keeper of the lighthouse"`} {
		for _, o := range []search.Options{{}, {Unfold: true}, {Sort: search.ByDate}} {
			res, err := d.Search(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			seen := make(map[string]int)
			for _, h := range res.Hits {
				seen[string(h.URL)]++
				for _, also := range h.Also {
					seen[also.URL]++
				}
			}
			if seen["https://moves.example/"] != 1 {
				t.Errorf("%s, %+v: it is shown %d times: %v", q, o, seen["https://moves.example/"], seen)
			}
		}
	}
	similar, err := d.Similar(t.Context(), "https://stays0-1.example/", search.SimilarOptions{Threshold: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, p := range similar.Pages {
		if p.URL == "https://moves.example/" {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("among similar pages it is shown %d times: %+v", shown, similar.Pages)
	}
}

// failingShard is a shard that fails at its n-th question, or at the beginning.
type failingShard struct {
	search.ShardSource
	after int
}

var errLame = errors.New("the machine is gone")

func (l failingShard) Begin(ctx context.Context) (search.Session, error) {
	if l.after == 0 {
		return nil, errLame
	}
	s, err := l.ShardSource.Begin(ctx)
	return &failingSession{s, l.after}, err
}

type failingSession struct {
	search.Session
	left int
}

func (s *failingSession) Ask(ctx context.Context, q *search.Question) (*search.Answer, error) {
	if s.left--; s.left <= 0 {
		return nil, errLame
	}
	return s.Session.Ask(ctx, q)
}

// unclosed is a shard whose sessions fail to close.
type unclosed struct{ search.ShardSource }

func (u unclosed) Begin(ctx context.Context) (search.Session, error) {
	s, err := u.ShardSource.Begin(ctx)
	return &unclosedSession{s}, err
}

type unclosedSession struct{ search.Session }

func (s *unclosedSession) Close() error {
	return errors.Join(s.Session.Close(), errors.New("the disk is gone"))
}

// TestMissingShard: a shard that fails at any question leaves the result of the others, which
// says what is missing. It is never silent, and fails only if no shard answers.
func TestMissingShard(t *testing.T) {
	rng := testenv.Random(t)
	d := newDivided(t, 3)
	d.apply(t, scoredChanges(60, rng)...)
	others := search.NewShards([]search.ShardSource{d.sources[0], d.sources[2]})
	for after := range 12 {
		s := search.NewShards([]search.ShardSource{d.sources[0], failingShard{d.sources[1], after}, d.sources[2]})
		got, err := s.Search(t.Context(), "harbour musuem", search.Options{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Incomplete) == 0 { // it was not asked that often
			continue
		}
		want, err := others.Search(t.Context(), "harbour musuem", search.Options{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Incomplete) != 1 || !strings.Contains(got.Incomplete[0], "shard 1 of 3: ") || !strings.Contains(fmt.Sprint(got.Notes), "incomplete") {
			t.Fatalf("after %d questions: incomplete %q, notes %q", after, got.Incomplete, got.Notes)
		}
		got.Incomplete, got.Notes = nil, want.Notes
		sameResults(t, fmt.Sprint("without a shard, after ", after), got, want)
	}
	if got, err := search.NewShards(d.sources[:2], "shard 2 of 3: nobody holds it").Search(t.Context(), "harbour", search.Options{}); err != nil || len(got.Incomplete) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := search.NewShards([]search.ShardSource{d.sources[0], unclosed{failingShard{d.sources[1], 2}}}).Search(t.Context(), "harbour", search.Options{}); err != nil || !strings.Contains(fmt.Sprint(got.Incomplete), "the disk is gone") {
		t.Errorf("a session that fails, and then fails to close: %+v, %v", got, err)
	}
	dead := search.NewShards([]search.ShardSource{failingShard{d.sources[0], 0}, failingShard{d.sources[1], 2}})
	if _, err := dead.Search(t.Context(), "harbour", search.Options{}); !errors.Is(err, errLame) {
		t.Errorf("no shard answers: %v", err)
	}
	if _, err := search.NewShards([]search.ShardSource{failingShard{d.sources[0], 0}, d.sources[1]}).Count(t.Context()); !errors.Is(err, search.ErrUnavailable) {
		t.Errorf("count without a shard: %v", err)
	}
	for u, i := range map[page.URL]int{"https://kept0.example/": 0, "https://kept1.example/": 1} {
		apply(t, d.writers[i], Upsert(&Document{Cluster: page.ContentKey{byte(100 * i), 1}, Seq: 1, URL: u, Text: "harbour"}))
		for after := range 2 {
			s := search.NewShards([]search.ShardSource{d.sources[0], failingShard{d.sources[1], after}, d.sources[2]})
			if _, err := s.Similar(t.Context(), u, search.SimilarOptions{}); (i == 1) != errors.Is(err, search.ErrUnavailable) || errors.Is(err, search.ErrNotIndexed) || i == 0 && err != nil {
				t.Errorf("similar to a page of shard %d without shard 1: %v", i, err)
			}
		}
	}
	if _, err := d.Similar(t.Context(), "https://never.example/", search.SimilarOptions{}); !errors.Is(err, search.ErrNotIndexed) {
		t.Errorf("similar to a page that no shard has: %v", err)
	}
	if _, err := d.Search(t.Context(), "(", search.Options{Limit: -1}); err == nil {
		t.Error("wrong options are accepted")
	}
}

// shortened is a shard whose answers are shorter than the questions, as those of another version may be.
type shortened struct {
	search.ShardSource
	cut func(*search.Answer)
}

func (s shortened) Begin(ctx context.Context) (search.Session, error) {
	in, err := s.ShardSource.Begin(ctx)
	return &shortenedSession{in, s.cut}, err
}

type shortenedSession struct {
	search.Session
	cut func(*search.Answer)
}

func (s *shortenedSession) Ask(ctx context.Context, q *search.Question) (*search.Answer, error) {
	a, err := s.Session.Ask(ctx, q)
	if err == nil {
		s.cut(a)
	}
	return a, err
}

// TestShortAnswers: a shard that answers about fewer documents, phrases or weights than it is asked
// about does not break the search, which names the shard and says what to do about it.
func TestShortAnswers(t *testing.T) {
	d := newDivided(t, 2)
	d.apply(t, typedWeb()...)
	for name, cut := range map[string]func(*search.Answer){
		"statistics":         func(a *search.Answer) { a.Statistics.Documents = butLast(a.Statistics.Documents) },
		"counts":             func(a *search.Answer) { a.Counts = butLast(a.Counts) },
		"anchors":            func(a *search.Answer) { a.Matches = butLast(a.Matches) },
		"typed words":        func(a *search.Answer) { a.Typed = butLast(a.Typed) },
		"passages":           func(a *search.Answer) { a.Passages = butLast(a.Passages) },
		"sketches":           func(a *search.Answer) { a.Sketches = butLast(a.Sketches) },
		"hits":               func(a *search.Answer) { a.Hits = butLast(a.Hits) },
		"weights of columns": func(a *search.Answer) { a.Columns = butLast(a.Columns) },
		"documents of columns": func(a *search.Answer) {
			for i := range a.Columns {
				a.Columns[i] = butLast(a.Columns[i])
			}
		},
	} {
		s := search.NewShards([]search.ShardSource{d.sources[0], shortened{d.sources[1], cut}})
		res, err := s.Search(t.Context(), "polished brass lanterns", search.Options{Explain: true})
		if err != nil || len(res.Hits) == 0 || len(res.Incomplete) != 1 ||
			!strings.HasPrefix(res.Incomplete[0], "shard 1 of 2: ") || !strings.HasSuffix(res.Incomplete[0], "all processes of a deployment need the same version") {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

func butLast[T any](list []T) []T { return list[:max(0, len(list)-1)] }
