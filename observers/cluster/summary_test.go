package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/rank"
)

// tiny are limits that a few members exceed.
var tiny = Limits{Giant: 3, Largest: 4, Split: 2, Smallest: 2, Read: 7, Run: 28, Writes: 60}

// change makes a URL come, go, become another kind of member, or get another rank. Ranks
// are often equal, or 0.99 of each other. It returns the positions that have to be renewed.
func (w *world) change(random *rand.Rand, tolerance float64) (woken []string) {
	scheme := [...]string{"https", "http"}[random.IntN(2)]
	m := Member{URL: url(fmt.Sprintf("%s://m.example/%s%d", scheme, strings.Repeat("p", random.IntN(3)), random.IntN(30)))}
	known := false
	for _, m.Eligible = range []bool{true, false} {
		if _, known = w.members[position(m)]; known {
			break
		}
	}
	if at := position(m); known && random.IntN(2) == 0 {
		w.remove(at)
		woken, known = append(woken, at), false
	}
	if !known {
		if random.IntN(4) == 0 {
			return woken
		}
		m.Eligible = random.IntN(4) > 0
	}
	r := Unlinked(m)
	if random.IntN(3) > 0 {
		r = Linked(m, rank.Teleport*[]float64{1, 1.001, 1.005, 1.0101, 1.011, 1.02, 2}[random.IntN(7)], tolerance)
	}
	return append(woken, w.add(r))
}

// TestSummariesChoose changes members at random, renews the summaries they are in, and
// compares the choice of the summaries, and that of the contenders, with the choice of all
// members.
func TestSummariesChoose(t *testing.T) {
	t.Parallel()
	for seed := range seeds(t, 2000) {
		random := rand.New(rand.NewPCG(seed, 11))
		w, tolerance := newWorld(), []float64{0.001, 0.01}[random.IntN(2)]
		for round := range 12 {
			var woken []string
			for range 1 + random.IntN(12) {
				woken = append(woken, w.change(random, tolerance)...)
			}
			w.renewAll(t, tiny, woken)
			w.check(t, tiny, tolerance)
			if t.Failed() {
				t.Fatalf("INDEXER_SEED=%d, round %d", seed, round)
			}
		}
	}
}

func (w *world) check(t *testing.T, l Limits, tolerance float64) {
	t.Helper()
	if at := w.differences(); at != nil {
		t.Errorf("summaries at %q differ", at)
	}
	want := choose(w.list())
	s := w.summaries()
	if len(s.Parts) == 0 {
		return
	}
	got, err := s.Choose(t.Context(), w, tolerance, l)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := got.Rank / want.Rank; len(w.members) > 0 && (ratio < 1-1e-9 || ratio > 1+1e-9) {
		t.Errorf("summaries have rank %v, members %v", got.Rank, want.Rank)
	}
	if got.Rank = want.Rank; got != want {
		t.Errorf("summaries choose %+v, members %+v", got, want)
	}
	var few Contenders
	for _, m := range w.list() {
		if !few.Add(m) {
			break
		}
	}
	if c := choose(few.List); few.Among != want.Among || c.Canonical != want.Canonical || c.Contested != want.Contested {
		t.Errorf("contenders choose %+v, members %+v", c, want)
	}
	for _, p := range s.Parts {
		if p.Members > l.Largest {
			t.Errorf("a summary of %d members", p.Members)
		}
	}
}

// TestOutdated: a summary with which its members disagree is named by the error, and is right
// after it was renewed there.
func TestOutdated(t *testing.T) {
	t.Parallel()
	limits := tiny
	limits.Smallest = 1
	for damaged := range 3 {
		w := newWorld()
		for i := range 6 {
			w.add(Unlinked(Member{URL: url(fmt.Sprintf("https://m.example/%d", i)), Eligible: true}))
		}
		w.renewAll(t, limits, []string{""})
		s := w.summaries()
		p := &s.Parts[damaged]
		p.First = 7
		w.stored[p.At] = p.Summary
		if got := w.differences(); !slices.Equal(got, []string{p.At}) {
			t.Errorf("summary %d is wrong, and the check finds %q", damaged, got)
		}
		var outdated *OutdatedError
		if _, err := s.Choose(t.Context(), w, 0.01, limits); !errors.As(err, &outdated) {
			t.Fatalf("summary %d is wrong: %v", damaged, err)
		}
		w.renewAll(t, limits, []string{outdated.At})
		w.check(t, limits, 0.01)
	}
}

// TestIncomplete: summaries cannot choose if one of them is incomplete, whichever it is.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	s := &Summaries{}
	s.Begin(NewBudget(tiny, 0))
	complete := Part{At: "1", Summary: Summary{Members: 1, Unlinked: 1}}
	for _, parts := range [][]Part{s.Parts, {s.Parts[0], complete}} {
		s.Parts = parts
		if _, err := s.Choose(t.Context(), newWorld(), 0.01, tiny); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%v: an incomplete summary chooses: %v", parts, err)
		}
	}
}

// TestRenewCost: a giant cluster is read once, in bounded runs; then a change costs the
// reading of the summaries around it.
func TestRenewCost(t *testing.T) {
	t.Parallel()
	l := Limits{}.WithDefaults()
	w := newWorld()
	const n = 20_000
	var last string
	for i := range n {
		last = w.add(Unlinked(Member{URL: url(fmt.Sprintf("https://m.example/%05d", i)), Eligible: true}))
	}
	positions := []string{""}
	runs := 0
	for ; len(positions) > 0; runs++ {
		w.read = 0
		positions = w.renew(t, l, positions)
		if w.read > l.Run+l.Read+2 {
			t.Fatalf("a run reads %d members", w.read)
		}
	}
	if most := n/l.Read + 2; runs > most {
		t.Errorf("%d runs for %d members, want at most %d", runs, n, most)
	}
	if got, most := len(w.stored), n/l.Split+1; got > most {
		t.Errorf("%d summaries, want at most %d", got, most)
	}
	w.read = 0
	if runs := w.renewAll(t, l, []string{last}); runs != 1 || w.read > l.Largest {
		t.Errorf("one change: %d runs, %d members read", runs, w.read)
	}
	w.check(t, l, 0.01)

	// A run reads no more than it may, however many members have changed, and leaves the others.
	positions = nil
	for _, p := range w.summaries().Parts[:200] {
		positions = append(positions, p.At+"x")
	}
	for len(positions) > 0 {
		w.read = 0
		positions = w.renew(t, l, positions)
		if w.read > l.Run+l.Largest {
			t.Fatalf("a run reads %d members", w.read)
		}
	}
	// Nor does it write more if it merges all that it renews.
	for i, at := range w.positions() {
		if i%64 > 2 {
			w.remove(at)
			if i%64 == 3 {
				positions = append(positions, at)
			}
		}
	}
	for at := range slices.Chunk(positions, 280) {
		w.renewAll(t, l, at)
	}
	w.check(t, l, 0.01)
}
