package index

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/webindexer/indexer/index/search"
)

// TestSnapshot: a view does not move while the writer continues.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	r := openTestReader(t, dir)
	docs := generate(30, 1)
	apply(t, w, docs[:10]...)
	v, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	apply(t, w, docs[10:]...)
	apply(t, w, Delete(docs[0].Cluster, 2))
	if n := v.State().Documents; n != 10 {
		t.Errorf("%d documents in the view, want 10", n)
	}
	if n, err := r.Count(t.Context()); n != 29 || err != nil {
		t.Errorf("%d documents, want 29 (%v)", n, err)
	}
	res, err := v.Search(t.Context(), "lang:en", search.Options{Limit: 100})
	if err != nil || res.Total != 10 || len(res.Hits) != 10 {
		t.Errorf("%+v %v", res, err)
	}
	if err := v.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}

// TestPages: the pages of a result are parts of one list.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir), generate(300, 1)...)
	r := openTestReader(t, dir)
	word := newVocabulary(1).words[3]
	for _, q := range []string{word, "lang:en", word + " zzzz", word + " nowhere elephants"} {
		whole, err := r.Search(t.Context(), q, search.Options{Limit: 300})
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Hits) < 150 || len(whole.Hits) != whole.Total {
			t.Fatalf("%s: %d hits of %d", q, len(whole.Hits), whole.Total)
		}
		for offset := 0; offset < len(whole.Hits); offset += 37 {
			part, err := r.Search(t.Context(), q, search.Options{Limit: 37, Offset: offset})
			if err != nil || part.Total != whole.Total {
				t.Fatalf("%s from %d: total %d, want %d (%v)", q, offset, part.Total, whole.Total, err)
			}
			for i, h := range part.Hits {
				if w := whole.Hits[offset+i]; h.URL != w.URL || h.Position != w.Position || h.Position != offset+i+1 {
					t.Fatalf("%s from %d: hit %d is %s at %d, want %s", q, offset, i, h.URL, h.Position, w.URL)
				}
			}
		}
	}
	for _, o := range []search.Options{{Limit: -1}, {Offset: -1}, {Limit: search.MaxResults + 1}, {Limit: 10, Offset: search.MaxResults}, {Weights: search.Weights{Body: -1}}} {
		_, err := r.Search(t.Context(), word, o)
		if usage := (*search.UsageError)(nil); !errors.As(err, &usage) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestCheckFindsDamage: Check finds the damage that it looks for.
func TestCheckFindsDamage(t *testing.T) {
	for name, damage := range map[string]string{
		"document without full text": "DELETE FROM fts WHERE rowid=3",
		"full text without document": "DELETE FROM docs WHERE id=3",
		"document without rank":      "DELETE FROM ranks WHERE id=3",
		"document without time":      "DELETE FROM times WHERE id=3",
		"length of a document":       "UPDATE lengths SET tokens=zeroblob(length(tokens))",
		"dead and present":           "INSERT INTO tombstones SELECT cluster, 1 FROM docs WHERE id=3",
		"stored text":                "UPDATE docs SET head=x'00112233' WHERE id=3",
		"other full text":            "INSERT OR REPLACE INTO fts(rowid, title, body, anchors, outside, url, tags) VALUES(3, 'a', 'b', 'c', 'd', 'e', 'f')",
		"another title":              "UPDATE docs SET title='another' WHERE id=3",
		"another digest":             "UPDATE docs SET digest=x'0000000000000001' WHERE id=3",
		"thumbnail of nothing":       "INSERT INTO thumbnails VALUES(99, x'0011223344556677', x'00')",
		"another thumbnail":          "INSERT INTO thumbnails VALUES(3, x'0011223344556677', x'00')",
		"full-text segment":          "UPDATE fts_data SET block=zeroblob(length(block)) WHERE id=(SELECT max(id) FROM fts_data)",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			apply(t, openTestWriter(t, dir), generate(20, 1)...)
			db, err := sql.Open("sqlite", writerDSN(shardPath(dir), false))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(damage); err != nil {
				t.Fatal(err)
			}
			r, err := OpenReader(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := r.Check(t.Context()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Check: %v", err)
			} else {
				t.Log(err)
			}
		})
	}
}

// TestBatchFlush pins that a transaction makes one full-text segment, in whatever
// order its documents come (fulltext.go).
func TestBatchFlush(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	r := openTestReader(t, dir)
	docs := generate(60, 1)
	apply(t, w, docs...)
	var two []Change
	for _, i := range []int{20, 10} {
		d := *docs[i].Doc
		d.Seq, d.Title = 2, d.Title+" new"
		two = append(two, Upsert(&d))
	}
	apply(t, w, two...)
	var segments int
	if err := r.db.QueryRow("SELECT count(DISTINCT segid) FROM fts_idx").Scan(&segments); err != nil {
		t.Fatal(err)
	}
	if segments != 2 {
		t.Errorf("%d segments after 2 transactions", segments)
	}
}

// TestCancelledSearch: a search stops when its caller has gone, and the reader keeps
// working.
func TestCancelledSearch(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir), generate(50, 1)...)
	r := openTestReader(t, dir)
	word := newVocabulary(1).words[3]
	ctx, cancel := context.WithCancel(t.Context())
	v, err := r.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Search(ctx, word, search.Options{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if res, err := v.Search(ctx, word, search.Options{}); err == nil {
		t.Errorf("cancelled, and yet %+v", res)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	for range 2 * readerConns { // no connection was lost
		if res, err := r.Search(t.Context(), word, search.Options{}); err != nil || res.Total == 0 {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// TestPanicInView: the view of a question that panics is closed, so it keeps no connection.
func TestPanicInView(t *testing.T) {
	dir := t.TempDir()
	openTestWriter(t, dir)
	r := openTestReader(t, dir)
	func() {
		defer func() { _ = recover() }()
		_, err := inView(t.Context(), r, func(*View) (int, error) { panic("a defect") })
		t.Errorf("it returned %v", err)
	}()
	if n := r.db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are in use", n)
	}
}
