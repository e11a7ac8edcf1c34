package repository_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// TestKilled kills a process that loads a web at random moments, starts it again with
// the same web until it ends on its own, and checks the result: the digest of an
// undisturbed run, and nothing for verify to report.
//
// A round is one directory, from nothing to the end. Its kills follow the order of
// the work, so that each start gets further than the one before. Rounds are made
// until there were enough kills.
func TestKilled(t *testing.T) {
	web, kills := ownWebs, testenv.Size(5, 8, 60)
	if testenv.Long() {
		web = corpusPart(t, []string{"t0", "t1"}, "community")
	}
	fetches := mustReadWeb(t, web)
	want := undisturbed(t, fetches)
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		t.Run(modeName(mode), func(t *testing.T) {
			k := killing{web: web, fetches: fetches, want: want, mode: mode, left: kills, rnd: testenv.Random(t)}
			k.measure(t)
			for rounds := 1; k.left > 0; rounds++ {
				if rounds > kills {
					t.Fatalf("%d kills are left after %d rounds: children end before they are killed", k.left, rounds)
				}
				k.round(t)
			}
			t.Logf("killed at %v", k.killed)
		})
	}
}

func modeName(m txn.Mode) string {
	return map[txn.Mode]string{txn.OnePhase: "one-phase", txn.TwoPhase: "two-phase"}[m]
}

type killing struct {
	web     string
	fetches []page.Fetch
	want    string
	mode    txn.Mode
	rnd     *rand.Rand
	left    int
	runs    int // lines saysRuns of an undisturbed child
	killed  map[string]int
}

// measure lets a child run undisturbed.
func (k *killing) measure(t *testing.T) {
	t.Helper()
	s := endBySelf(t, filepath.Join(t.TempDir(), "data"), k.web, k.mode)
	if s.digest != k.want {
		t.Errorf("digest %s of an undisturbed child, want %s", s.digest, k.want)
	}
	k.runs, k.killed = max(s.said[saysRuns], 1), make(map[string]int)
}

// killsPerRound is how often one directory is interrupted at most.
const killsPerRound = 10

// round kills a child again and again, lets it end, and checks.
func (k *killing) round(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for _, m := range k.plan(min(k.left, killsPerRound)) {
		s := startChild(t, dir, k.web, k.mode).listen(m)
		if s.failed != "" {
			t.Fatalf("after a kill, the child failed: %s", s.failed)
		}
		if !s.killed {
			break // it was done sooner than that
		}
		k.killed[m.event]++
		k.left--
	}
	if s := endBySelf(t, dir, k.web, k.mode); s.digest != k.want {
		t.Errorf("digest %s after kills, want %s", s.digest, k.want)
	}
	r := open(t, dir, repository.Options{Commit: k.mode})
	defer closeNow(t, r)
	wantSound(t, r, k.want)
}

// plan draws n moments, in the order in which a child reaches them: a tenth while
// opening or just after, six tenths while loading, a quarter while the observers end
// their work, the rest later.
func (k *killing) plan(n int) []moment {
	places := make([]float64, n)
	for i := range places {
		places[i] = k.rnd.Float64()
	}
	slices.Sort(places)
	moments := make([]moment, n)
	for i, x := range places {
		moments[i] = k.at(x)
	}
	return moments
}

func (k *killing) at(x float64) moment {
	switch {
	case x < 0.05:
		return moment{saysOpening, 1}
	case x < 0.10:
		return moment{saysOpened, 1}
	case x < 0.70:
		return moment{saysLoad, 1 + int((x-0.10)/0.60*float64(len(k.fetches)))}
	case x < 0.95:
		return moment{saysRuns, 1 + int((x-0.70)/0.25*float64(k.runs))}
	case x < 0.97:
		return moment{saysDigest, 1}
	}
	return moment{saysClosing, 1}
}
