package index

import (
	"fmt"
	"testing"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestViewCache: what a search reads again comes from the cache, a view sees its own state
// whatever others have read before it, and an old view does not take the place of the
// newest one.
func TestViewCache(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	doc := func(n int, seq uint64, title string) Change {
		return Upsert(&Document{Cluster: key(fmt.Sprint(n)), Seq: seq, URL: page.URL(fmt.Sprint("https://a.example/", n)), Title: title, Text: "harbour and rope"})
	}
	apply(t, w, doc(1, 1, "nets"), doc(2, 1, "nets"))
	r := openTestReader(t, dir)
	titles := func(v *View) (list []string) {
		t.Helper()
		res, err := v.Search(t.Context(), "harbour", search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			list = append(list, fmt.Sprint(h.URL, " ", h.Title, " ", h.Rank))
		}
		return list
	}
	view := func() *View {
		t.Helper()
		v, err := r.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { v.Close() })
		return v
	}
	old := view()
	before := fmt.Sprint(titles(old))
	if same := view(); same.cache != old.cache || fmt.Sprint(titles(same)) != before {
		t.Fatal("a view of the same state does not use the same cache")
	}
	apply(t, w, doc(1, 2, "salt"), Delete(key("2"), 2))
	if err := w.SetRanks(t.Context(), []RankUpdate{{Cluster: key("1"), Seq: 3, Rank: 7}}); err != nil {
		t.Fatal(err)
	}
	now := view()
	if got, want := fmt.Sprint(titles(now)), fmt.Sprintf("[%s salt 7]", "https://a.example/1"); got != want {
		t.Errorf("after changes: %s, want %s", got, want)
	}
	if got := fmt.Sprint(titles(old)); got != before {
		t.Errorf("the old view sees %s, and saw %s", got, before)
	}
	if r.newest.of(old.state) == now.cache || r.newest.of(now.state) != now.cache {
		t.Error("an old view takes the place of the newest one")
	}
}

// TestPhrasesShareLists: the list of a token that a phrase has is read once, for all phrases.
func TestPhrasesShareLists(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	for i, name := range []string{"org.example.Net", "org.example.Rope", "net.example.Rope"} {
		apply(t, w, Upsert(&Document{Cluster: key(name), Seq: 1, URL: page.URL(fmt.Sprint("https://a.example/", i)), Title: name, Text: name}))
	}
	v, err := openTestReader(t, dir).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	x, err := v.text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	find := func(tokens string) *found {
		t.Helper()
		f, err := x.everywhere(t.Context(), query.Phrase{Tokens: tokens})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := find("org example rope"); len(f.ids) != 1 {
		t.Fatalf("%d documents have org.example.Rope", len(f.ids))
	}
	for _, token := range []string{"org", "example", "rope"} {
		kept := x.found[phraseIn{query.Phrase{Tokens: token}, postings.AllColumns}]
		if kept == nil || len(kept.ids) < 2 || find(token) != kept {
			t.Errorf("the list of %s was not kept", token)
		}
	}
	if f := find("example rope"); len(f.ids) != 2 {
		t.Errorf("%d documents have example.Rope", len(f.ids))
	}
}

// TestFoundCacheSize: the cache takes a share of the memory, within bounds.
func TestFoundCacheSize(t *testing.T) {
	for memory, want := range map[int64]int{64 << 20: leastFoundCache, 1 << 30: 64 << 20, 1<<63 - 1: mostFoundCache} {
		if got := foundCacheSize(memory); got != want {
			t.Errorf("of %d bytes: %d, want %d", memory, got, want)
		}
	}
}
