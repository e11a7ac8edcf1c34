package index

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
)

// TestDamagedTexts: a question about words in texts fails on a damaged head, or on a damaged rest if it
// reads that.
func TestDamagedTexts(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	apply(t, w, Upsert(&Document{Cluster: key("a"), Seq: 1, URL: "https://a.example/", Text: strings.Repeat("torn nets ", headSize/5)}))
	db, err := sql.Open("sqlite", writerDSN(shardPath(dir), false))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, damage := range []string{"UPDATE docs SET rest=x'00112233'", "UPDATE docs SET head=x'00112233'"} {
		if _, err := db.Exec(damage); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		v, err := r.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		s := &viewShard{v: v}
		if _, err := s.Typed(t.Context(), &search.TypedQuestion{IDs: []int64{1}, Words: []string{"mend"}}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: words as typed: %v", damage, err)
		}
		_, err = s.Passages(t.Context(), &search.PassagesQuestion{IDs: []int64{1}, Words: []search.PassageWord{{Typed: "mend"}}})
		if reads := strings.Contains(damage, "head"); errors.Is(err, ErrCorrupt) != reads {
			t.Errorf("%s: passages: %v", damage, err)
		}
	}
}
