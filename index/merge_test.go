package index

import (
	"fmt"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/search"
)

// BenchmarkSearchUnmerged is what leaving segments unmerged while changes come costs queries: the same
// documents, in batches of 20 without a pause, merged by 4 (FTS5's default), by 8 and by 16, and the same
// queries asked of the three alternately. One op is one query of each; x8 and x16 are ratios to merging by
// 4.
func BenchmarkSearchUnmerged(b *testing.B) {
	saved := mergeSettings[0].value
	defer func() { mergeSettings[0].value = saved }()
	docs := generate(1200, 1)
	var readers []*Reader
	for _, by := range []int{4, 8, 16} {
		mergeSettings[0].value = by
		dir := b.TempDir()
		w, err := OpenWriter(b.Context(), dir, WriterOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; i < len(docs); i += 20 {
			apply(b, w, docs[i:i+20]...)
		}
		if err := w.Close(); err != nil { // before a pause merges
			b.Fatal(err)
		}
		r := openTestReader(b, dir)
		var segments int
		if err := r.db.QueryRow("SELECT count(DISTINCT segid) FROM fts_idx").Scan(&segments); err != nil {
			b.Fatal(err)
		}
		b.Logf("merged by %d: %d segments", by, segments)
		readers = append(readers, r)
	}
	for _, words := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			v := newVocabulary(3)
			took := make([]time.Duration, len(readers))
			for i := 0; b.Loop(); i++ {
				var q string
				for range words {
					q += v.words[v.rng.IntN(3000)] + " "
				}
				for k := range readers {
					at := (k + i) % len(readers) // none is always the first to ask
					began := time.Now()
					if _, err := readers[at].Search(b.Context(), q, search.Options{NoSuggestion: true}); err != nil {
						b.Fatal(err)
					}
					took[at] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "x8")
			b.ReportMetric(float64(took[2])/float64(took[0]), "x16")
			b.ReportMetric(float64(took[0].Microseconds())/1000/float64(b.N), "ms-by-4")
		})
	}
}

// TestMergingInPauses: after single writes, a pause leaves few segments, and what
// is found stays the same.
func TestMergingInPauses(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	for _, c := range generate(40, 1) {
		if err := w.Apply(t.Context(), []Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	rounds := 0
	err := w.submit(t.Context(), 1, func(tb *tables) error {
		for more := true; more; rounds++ {
			var err error
			if more, err = tb.merge(); err != nil {
				return err
			}
		}
		var structure []byte
		if _, err := tb.row("SELECT block FROM fts_data WHERE id=?", []any{postings.StructureRow}, &structure); err != nil {
			return err
		}
		if next, err := postings.NextMerges(structure); err != nil || len(next) == 0 || next[0].Segments >= leastSegments {
			t.Errorf("left to merge: %v, %v", next, err)
		}
		return tb.exec("INSERT INTO fts(fts, rank) VALUES('integrity-check', 0)")
	})
	if err != nil {
		t.Fatal(err)
	}
	if rounds < 2 {
		t.Errorf("merging ended after %d rounds: nothing was there to merge", rounds)
	}
}

func TestWorthMerging(t *testing.T) {
	for _, test := range []struct {
		name string
		next []postings.Merge
		want bool
	}{
		{"nothing: deleted documents, perhaps", nil, true},
		{"few: likewise", []postings.Merge{{Segments: 3, Pages: 20_000}}, true},
		{"small", []postings.Merge{{Segments: 4, Pages: 1200}}, true},
		{"large", []postings.Merge{{Segments: 4, Pages: 24_000}}, false},
		{"large, and nearly done", []postings.Merge{{Segments: 16, Pages: 5000}}, true},
		{"small, but then large ones in the same step", []postings.Merge{{Segments: 4, Pages: 40}, {Segments: 4, Pages: 24_000}}, false},
	} {
		if got := worthMerging(test.next); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
