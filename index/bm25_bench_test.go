package index

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// BenchmarkByText is the best hundred by text of 5,000 documents, with their rows: asked of FTS5's bm25(), which
// is the baseline, and of its lists, alternately. One op is one query of each; x-fts5 is how many times as
// long FTS5 took.
func BenchmarkByText(b *testing.B) {
	_, dir := loadedIndex(b, 5000)
	v, err := openTestReader(b, dir).Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	names, err := v.stemmers(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	const best = 100 // of which a search sorts as many again
	for _, words := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			voc := newVocabulary(3)
			var theirs, ours time.Duration
			for b.Loop() {
				var q []string
				for range words {
					q = append(q, voc.words[voc.rng.IntN(3000)])
				}
				c, err := compiled(strings.Join(q, " "), names)
				if err != nil {
					b.Fatal(err)
				}
				s := &scoring{&viewShard{v: v}, c, search.DefaultWeights}
				began := time.Now()
				if _, err := s.byFTS5(b.Context(), c.Expr(query.SomeWords).String(), best); err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(began)
				began = time.Now()
				if _, _, err := s.byText(b.Context(), c.Expr(query.SomeWords), best); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(began)
			}
			b.ReportMetric(float64(theirs)/float64(ours), "x-fts5")
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs-ours")
		})
	}
}
