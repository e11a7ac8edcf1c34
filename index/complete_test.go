package index

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/completion"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// named is documents with titles and anchors.
func named(seq uint64, titles ...string) (changes []Change) {
	for i, title := range titles {
		u := page.URL(fmt.Sprintf("https://site%d.example/%d", i%3, i))
		changes = append(changes, Upsert(&Document{
			Cluster: key(string(u)), Seq: seq, URL: u, Title: title, Text: "harbour", Language: "en", Rank: float64(len(titles) - i),
			Anchors: []Anchor{{Text: "to " + title, Count: 2}, {Text: "rare", Count: 1}},
		}))
	}
	return changes
}

func completed(list []search.Completion) (out []string) {
	for _, c := range list {
		out = append(out, c.Text)
	}
	return out
}

func complete(t testing.TB, s interface {
	Complete(context.Context, search.CompletionQuestion) ([]search.Completion, error)
}, q search.CompletionQuestion) string {
	t.Helper()
	list, err := s.Complete(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%q", completed(list))
}

// The same documents in one file and in several shards give the same completions, and
// searching for a completion finds its document.
func TestComplete(t *testing.T) {
	rng := testenv.Random(t)
	titles := []string{"Lighthouse keeper's guide", "Light: a “history” (2nd edition)", "Lamps AND lights OR none", "Das Licht", "東京 lights", "C++ lighting"}
	for len(titles) < 60 {
		// Each once: shards agree on everything but the number of pages of a host to which a text
		// leads, because each counts its own pages.
		if title := randomWords(rng, 1+rng.IntN(4)); !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	docs := named(1, titles...)
	w := openTestWriter(t, t.TempDir())
	apply(t, w, docs...)
	one := openTestReader(t, w.dir)
	d := newDivided(t, 3)
	d.apply(t, docs...)
	for _, typed := range []string{"l", "light", "LÏGHT", "lights o", "ferry", "h", "har", "to h", "東", "rare", "", "-", `"`} {
		for _, site := range []string{"", "site1.example", "other.example"} {
			q := search.CompletionQuestion{Typed: typed, Site: site, N: 10}
			want := complete(t, one, q)
			if got := complete(t, d, q); got != want {
				t.Errorf("%q: %s from shards, want %s", typed, got, want)
			}
		}
		list, err := one.Complete(t.Context(), search.CompletionQuestion{Typed: typed, N: 100})
		if err != nil || len(list) > search.MaxCompletions {
			t.Fatal(len(list), err)
		}
		for _, c := range list {
			res, err := one.Search(t.Context(), c.Text, search.Options{Verbatim: true})
			if err != nil || res.Total == 0 {
				t.Errorf("%q finds nothing: %v", c.Text, err)
			}
			if query.NarrowedBy(c.Text) != (query.Narrowed{}) {
				t.Errorf("%q has operators", c.Text)
			}
		}
	}
	if got, want := complete(t, one, search.CompletionQuestion{Typed: "light", N: 2}), `["Lighthouse keeper's guide" "Light: a history (2nd edition)"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// After a change, the table is made again when some time has passed, and not for every key.
func TestCompletionsFollowTheIndex(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	apply(t, w, named(1, "Lamps")...)
	r := openTestReader(t, w.dir)
	q := search.CompletionQuestion{Typed: "l", N: 5}
	want := func(when, want string) {
		t.Helper()
		if got := complete(t, r, q); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	want("at first", `["Lamps" "to Lamps"]`)
	apply(t, w, named(2, "Lenses")...)
	want("just after a change", `["Lamps" "to Lamps"]`)
	r.completions.until = time.Time{}
	want("later", `["Lenses" "to Lenses"]`)
	// While one call makes a table, others get the last one.
	apply(t, w, named(3, "Lights")...)
	r.completions.until = time.Time{}
	r.completions.making.Lock()
	want("while it is made", `["Lenses" "to Lenses"]`)
	r.completions.making.Unlock()
	want("then", `["Lights" "to Lights"]`)
}

// A table that has room for some of the documents has those with the highest ranks, wherever their rows are.
func TestCompletionsOfHighestRanks(t *testing.T) {
	docs := named(1, "Lamps", "Lenses", "Lights", "Logs", "Locks")
	for i, rank := range []float64{1, 1, 1, 2, 3} {
		docs[i].Doc.Rank, docs[i].Doc.Anchors = rank, nil
	}
	w := openTestWriter(t, t.TempDir())
	apply(t, w, docs...)
	v, err := openTestReader(t, w.dir).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for n, want := range []string{`[]`, `["Locks"]`, `["Locks" "Logs"]`, `["Locks" "Logs" "Lamps"]`} {
		b := completion.NewBuilder(search.WithoutVersions)
		if err := v.addHighest(t.Context(), b, n); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", completed(b.Table().Find("l", completion.Filter{}, 10))); got != want {
			t.Errorf("%d documents: %s, want %s", n, got, want)
		}
	}
}

// BenchmarkComplete shows what the table of an index costs, and what a keystroke costs.
func BenchmarkComplete(b *testing.B) {
	size := testenv.Size(1000, 5000, 100_000)
	w := openTestWriter(b, b.TempDir())
	docs := generate(size, 1)
	for len(docs) > 0 {
		n := min(1000, len(docs))
		apply(b, w, docs[:n]...)
		docs = docs[n:]
	}
	r := openTestReader(b, w.dir)
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			v, err := r.Snapshot(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			builder := completion.NewBuilder(search.WithoutVersions)
			if err := v.fillCompletions(b.Context(), builder); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(builder.Table().Len()), "texts")
			if err := v.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, typed := range []string{"c", "con", "consum e"} {
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				complete(b, r, search.CompletionQuestion{Typed: typed, N: 8})
			}
		})
	}
}
