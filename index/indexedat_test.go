package index

import (
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// A document can be found since the end of the transaction that added it. Nothing that
// happens to it later moves that; another content at its URL is another document.
func TestSinceWhenItCanBeFound(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	r := openTestReader(t, dir)
	fetched := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	doc := func(cluster string, seq uint64, url page.URL) *Document {
		return &Document{Cluster: key(cluster), Seq: seq, URL: url, Title: "Lamp", Text: "the lamp of " + cluster, FetchedAt: fetched, Members: []page.URL{url}, MembersTotal: 1}
	}
	since := func(word string) time.Time {
		t.Helper()
		res, err := r.Search(t.Context(), word, search.Options{})
		if err != nil || len(res.Hits) != 1 {
			t.Fatalf("%s: %+v, %v", word, res, err)
		}
		return res.Hits[0].IndexedAt
	}
	// When this is called is after everything that was before, and before what follows.
	between := func(word string, from, to time.Time) {
		t.Helper()
		if at := since(word); at.Before(from) || at.After(to) {
			t.Errorf("%s can be found since %v, want from %v to %v", word, at, from, to)
		}
	}

	t0 := time.Now().Round(0)
	apply(t, w, Upsert(doc("first", 1, "https://a.example/")), Upsert(doc("second", 1, "https://b.example/")))
	t1 := time.Now().Round(0)
	between("first", t0, t1)
	between("second", t0, t1)
	first := since("first")

	again := doc("first", 2, "https://a.example/")
	again.Anchors, again.Inlinks = []Anchor{{Text: "bright", Count: 1}}, 1
	moved := doc("first", 3, "https://www.a.example/")
	for what, change := range map[string]func() error{
		"another anchor": func() error { return w.Apply(t.Context(), []Change{Upsert(again)}) },
		"a new time": func() error {
			_, err := w.Touch(t.Context(), []Touch{{key("first"), "https://a.example/", fetched.Add(time.Hour)}})
			return err
		},
		"another rank": func() error {
			return w.SetRanks(t.Context(), []RankUpdate{{Cluster: key("first"), Seq: 9, Rank: 3}})
		},
		"another document": func() error { return w.Apply(t.Context(), []Change{Upsert(doc("other", 1, "https://c.example/"))}) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if at := since("first"); !at.Equal(first) {
			t.Errorf("%s moved it from %v to %v", what, first, at)
		}
	}
	apply(t, w, Upsert(moved))
	if at := since("first"); !at.Equal(first) {
		t.Errorf("another canonical URL moved it from %v to %v", first, at)
	}

	t2 := time.Now().Round(0)
	apply(t, w, Upsert(doc("third", 4, "https://b.example/"))) // the page changed
	between("third", t2, time.Now().Round(0))

	apply(t, w, Delete(key("first"), 5))
	t3 := time.Now().Round(0)
	apply(t, w, Upsert(doc("first", 6, "https://a.example/")))
	between("first", t3, time.Now().Round(0))
}

// What a failed transaction would have added is not mistaken for what the next one adds.
func TestFoundSinceAfterAFailure(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	r := openTestReader(t, dir)
	apply(t, w, Upsert(&Document{Cluster: key("kept"), Seq: 1, URL: "https://kept.example/", Text: "kept"}))
	find := func() time.Time {
		t.Helper()
		res, err := r.Search(t.Context(), "kept", search.Options{})
		if err != nil || len(res.Hits) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		return res.Hits[0].IndexedAt
	}
	before := find()
	failing := func(tx *tables) error {
		tx.addedRow(1) // the id of what is kept
		return ErrInvalid
	}
	if err := w.submit(t.Context(), 1, failing); err == nil {
		t.Fatal("no error")
	}
	apply(t, w, Upsert(&Document{Cluster: key("next"), Seq: 1, URL: "https://next.example/", Text: "next"}))
	if at := find(); !at.Equal(before) {
		t.Errorf("it moved from %v to %v", before, at)
	}
}
