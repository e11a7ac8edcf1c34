package observers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/txn"
)

// TestFirstLink: the rank of a URL that nothing links to is exact, and a first link,
// however weak, ends that: a choice that was certain becomes contested, although no
// published rank has moved. It does not help that forward wakes the cluster for the
// anchor: it may do so before the rank is known.
//
// m is preferred, and has 0.15. With a tolerance of 0.1, what a page of 40 links gives mm
// is less than what is published: but 0.15 is less than 0.99 of mm's rank then.
func TestFirstLink(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(5, 15, 100))) {
		random := rand.New(rand.NewPCG(seed, 7))
		r := newRivals(t)
		r.pick = random.IntN
		r.load("b.example/m at=1 page text=other", "b.example/mm at=1 page text=other")
		line := "b.example/source at=1 page text=source link=b.example/mm,"
		for k := range 39 {
			line += fmt.Sprintf(" link=f.example/%d,", k)
		}
		r.load(line)
		r.check(fmt.Sprint("one link, seed ", seed))
		r.load("b.example/source at=2 gone")
		r.check(fmt.Sprint("none again, seed ", seed))
		r.close()
	}
}

// TestWeakLinks loads random webs of pages that pass on little, with coarse tolerances: a
// rank moves by many small steps, none of them large enough to be published, past those
// of its rivals.
func TestWeakLinks(t *testing.T) {
	runSeeds(t, testenv.Size(5, 20, 1000), func(seed uint64) error {
		random := rand.New(rand.NewPCG(seed, 11))
		web := webtest.RandomWeb(random, 24)
		web.Contents, web.Shells, web.Canonicals, web.Redirects = 1+random.IntN(3), 0, web.Canonicals/4, web.Redirects/4 // few contents, so that most pages have rivals
		web.Links, web.Weak = 1, 100-random.IntN(10)
		s := schedule{
			mode: txn.OnePhase, nested: seed%2 == 0, crashes: seed%3 == 0,
			tolerance: []float64{0.1, 0.05, 0.02}[random.IntN(3)],
		}
		return s.checkFetches(t.Context(), seed, web.Make(random))
	})
}
