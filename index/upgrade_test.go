package index

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
)

// TestUpgrade: files of format 1 are refused by readers, brought up to date by a
// writer, and found in again once they are rebuilt.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, w, generate(20, 1)...)
	id := w.ID()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	downgrade(t, dir)
	if r, err := OpenReader(dir); !errors.Is(err, ErrOldFormat) {
		t.Fatalf("reader %v: %v", r, err)
	}
	w = openTestWriter(t, dir)
	if w.ID() != id || !w.NeedsRebuild() {
		t.Errorf("id %s, want %s; needs rebuild %v", w.ID(), id, w.NeedsRebuild())
	}
	if err := w.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := openTestReader(t, dir) // checks the index at the end
	res, err := r.Search(t.Context(), "lang:en", Options{Limit: 100})
	if err != nil || res.Total != 20 {
		t.Errorf("%+v, %v", res, err)
	}
	word := newVocabulary(1).words[3]
	if res, err = r.Search(t.Context(), word, Options{}); err != nil || res.Total == 0 {
		t.Errorf("%s: %+v, %v", word, res, err)
	}
}

// downgrade makes of an index what format 1 was.
func downgrade(t *testing.T, dir string) {
	db, err := sql.Open("sqlite", writerDSN(shardPath(dir), false))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, step := range []string{
		"DROP TABLE fts", "DROP TABLE IF EXISTS spelling",
		"CREATE VIRTUAL TABLE fts USING fts5(title, body, anchors, url, tags, content='', contentless_delete=1, tokenize='ascii')",
		"INSERT INTO fts(rowid, title) SELECT id, 'old' FROM docs",
		fmt.Sprint("PRAGMA user_version=", 1), "PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if _, err := db.Exec(step); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
}
