package repository_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// variant is a way to load a web that must not matter.
type variant struct {
	name             string
	loaders, workers int
	mode             txn.Mode
	backlog          int
	reorder          func(*rand.Rand, []page.Fetch) []page.Fetch
}

var variants = []variant{
	{"in order, 2 workers", 1, 2, txn.OnePhase, 0, nil},
	{"in order, 16 workers", 4, 16, txn.OnePhase, 0, nil},
	{"in order, two-phase, 1 worker", 1, 1, txn.TwoPhase, 0, nil},
	{"in order, two-phase, 16 workers", 4, 16, txn.TwoPhase, 0, nil},
	{"backwards", 1, 2, txn.OnePhase, 0, backwards},
	{"backwards, two-phase", 4, 2, txn.TwoPhase, 0, backwards},
	{"shuffled, 1 worker", 1, 1, txn.OnePhase, 0, shuffled},
	{"shuffled, 16 workers", 16, 16, txn.OnePhase, 0, shuffled},
	{"shuffled, two-phase, 16 workers", 16, 16, txn.TwoPhase, 0, shuffled},
	{"shuffled, observers close behind", 4, 4, txn.OnePhase, 4, shuffled},
	{"shuffled, two-phase, observers close behind", 4, 4, txn.TwoPhase, 4, shuffled},
	{"each fetch three times, shuffled", 8, 4, txn.OnePhase, 0, thrice},
}

func backwards(_ *rand.Rand, fetches []page.Fetch) []page.Fetch {
	out := make([]page.Fetch, len(fetches))
	for i, f := range fetches {
		out[len(out)-1-i] = f
	}
	return out
}

func thrice(r *rand.Rand, fetches []page.Fetch) []page.Fetch {
	return shuffled(r, append(append(append([]page.Fetch{}, fetches...), fetches...), fetches...))
}

// TestDigestOwnWebs: the same fetches give the same digest, in any order, by any
// number of workers, on either commit path, and verify has nothing to say.
func TestDigestOwnWebs(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	r := testenv.Random(t)
	want := ownDigest(t)
	t.Logf("%d fetches, digest %s", len(fetches), want)
	for i, v := range variants {
		if testing.Short() && i%3 != 1 {
			continue
		}
		t.Run(v.name, func(t *testing.T) { v.run(t, r, fetches, want) })
	}
}

// TestDigestOrders tries more orders of the project's own webs.
func TestDigestOrders(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	r := testenv.Random(t)
	want := ownDigest(t)
	for i := range testenv.Size(2, 5, 40) {
		v := variant{
			name: fmt.Sprint("order ", i), loaders: 1 + r.IntN(8), workers: 1 + r.IntN(8),
			mode: []txn.Mode{txn.OnePhase, txn.TwoPhase}[r.IntN(2)], backlog: 1 + r.IntN(300), reorder: shuffled,
		}
		t.Run(v.name, func(t *testing.T) { v.run(t, r, fetches, want) })
	}
}

// TestDigestCorpus does it with recorded crawls of real sites: two sites as a rule, with
// INDEXER_LONG=1 all.
func TestDigestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of work")
	}
	hosts := []string{"community", "lucene"}
	some := []int{3, 10}
	if testenv.Long() {
		hosts = []string{"community", "flink", "httpd", "incubator", "kafka", "lucene"}
		some = []int{1, 3, 6, 7, 8}
	}
	fetches := mustReadWeb(t, corpusPart(t, []string{"t0", "t1", "t2"}, hosts...))
	r := testenv.Random(t)
	want := undisturbed(t, fetches)
	t.Logf("%s: %d fetches, digest %s", strings.Join(hosts, ", "), len(fetches), want)
	for _, i := range some {
		v := variants[i]
		t.Run(v.name, func(t *testing.T) { v.run(t, r, fetches, want) })
	}
}

func (v *variant) run(t *testing.T, rnd *rand.Rand, fetches []page.Fetch, want string) {
	if v.reorder != nil {
		fetches = v.reorder(rnd, fetches)
	}
	r := open(t, t.TempDir(), repository.Options{Workers: v.workers, Commit: v.mode, Backlog: v.backlog})
	defer closeNow(t, r)
	load(t, r, v.loaders, fetches)
	wantSound(t, r, want)
}
