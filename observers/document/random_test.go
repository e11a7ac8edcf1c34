package document

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// forSeeds runs a test for many seeds, others in each run, or for INDEXER_SEED alone.
func forSeeds(t *testing.T, seeds uint64, test func(random *rand.Rand) error) {
	t.Helper()
	t.Parallel()
	first, only := testenv.FirstSeed(t, testenv.Fresh(t))
	switch {
	case only:
		seeds = 1
	case testenv.Long():
		seeds *= 10
	}
	for i := range seeds {
		seed := first + i
		if err := test(rand.New(rand.NewPCG(seed, 13))); err != nil {
			t.Fatalf("INDEXER_SEED=%d: %v", seed, err)
		}
	}
}

// TestBestAnchors reads random links of sources with random ranks, in parts of every
// size, and compares the anchors with all anchors sorted.
func TestBestAnchors(t *testing.T) {
	forSeeds(t, 1500, func(random *rand.Rand) error {
		limits := Limits{Anchors: 1 + random.IntN(5), CountedAnchors: 1 + random.IntN(12), Insiders: 1 + random.IntN(4)}
		rows := 1 + random.IntN(20)
		w := newAnchorWorld(random)
		a, err := Begin(t.Context(), w.memory, limits, Choice{Canonical: "https://m.example/a", Members: 2})
		if err != nil {
			return err
		}
		read(t, w.memory, a, rows)
		want := w.best(limits)
		if d := a.Document(); d.Inlinks != w.inlinks || !slices.Equal(d.Anchors, want) {
			return fmt.Errorf("%+v, parts of %d rows:\n%d inlinks %v\nwant %d %v", limits, rows, d.Inlinks, d.Anchors, w.inlinks, want)
		}
		return nil
	})
}

// anchorWorld is a cluster of two members with links to them, some from inside.
type anchorWorld struct {
	*memory
	inlinks int
	of      map[string]*weighedAnchor
}

type weighedAnchor struct {
	Anchor
	rank float64
}

func newAnchorWorld(random *rand.Rand) *anchorWorld {
	w := &anchorWorld{memory: newMemory(), of: make(map[string]*weighedAnchor)}
	members := []page.URL{"https://m.example/a", "https://m.example/bb"}
	for _, m := range members {
		w.member(m)
		w.memory.link(m, members[0], "inside")
	}
	for i := range random.IntN(60) {
		source := page.MustParseURL(fmt.Sprintf("https://%c.example/%d", 'm'+rune(random.IntN(2)), 100+i))
		w.ranks[source] = 0.15 + float64(max(0, random.IntN(8)-4))/10
		for _, m := range members[:1+random.IntN(2)] {
			w.link(source, m, random)
		}
	}
	return w
}

func (w *anchorWorld) link(source, target page.URL, random *rand.Rand) {
	texts := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	texts = slices.Sorted(slices.Values(texts[:1+random.IntN(3)]))
	w.memory.link(source, target, texts...)
	w.inlinks += len(texts)
	for _, text := range texts {
		if text == "" {
			continue
		}
		if w.of[text] == nil {
			w.of[text] = &weighedAnchor{Anchor: Anchor{Text: text}}
		}
		a := w.of[text]
		a.Count++
		a.rank = max(a.rank, w.ranks[source])
		if source.Host() != target.Host() {
			a.Others++
		}
	}
}

// best returns what a document must show: all anchors, or those with the best source.
func (w *anchorWorld) best(limits Limits) []Anchor {
	var all []*weighedAnchor
	for _, a := range w.of {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *weighedAnchor) int {
		byCount := cmp.Compare(b.Count, a.Count)
		if len(all) > limits.CountedAnchors {
			byCount = 0
		}
		return cmp.Or(cmp.Compare(b.rank, a.rank), byCount, cmp.Compare(a.Text, b.Text))
	})
	list := []Anchor{}
	for _, a := range all[:min(len(all), limits.Anchors)] {
		list = append(list, a.Anchor)
	}
	slices.SortFunc(list, func(a, b Anchor) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) })
	return list
}

// TestPartsAgree: in parts of any size, and whether or not members are remembered, a
// document is the same, down to its digest.
func TestPartsAgree(t *testing.T) {
	forSeeds(t, 500, func(random *rand.Rand) error {
		w := newAnchorWorld(random)
		choice := Choice{Canonical: "https://m.example/bb", Members: 2}
		var want *Document
		for _, limits := range []Limits{{InlinkRows: 1000}, {InlinkRows: 1}, {InlinkRows: 1 + random.IntN(9), Insiders: 1}} {
			a, err := Begin(t.Context(), w.memory, limits, choice)
			if err != nil {
				return err
			}
			read(t, w.memory, a, limits.InlinkRows)
			d := a.Document()
			if want == nil {
				want = d
			}
			if d.Digest != want.Digest || d.Inlinks != want.Inlinks || !slices.Equal(d.Anchors, want.Anchors) {
				return fmt.Errorf("%+v: %+v, want %+v", limits, d, want)
			}
		}
		return nil
	})
}

// TestAssemblyFails: an error of the reader comes out, at whichever link it happens.
func TestAssemblyFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := newAnchorWorld(rand.New(rand.NewPCG(1, 1)))
	choice := Choice{Canonical: "https://m.example/a", Members: 2}
	for _, limits := range []Limits{{}, {Insiders: 1}} {
		a, err := Begin(t.Context(), damaged{w.memory, broken}, limits, choice)
		if err != nil {
			t.Fatal(err)
		}
		left := 1000
		if _, err := a.Next(t.Context(), damaged{w.memory, broken}, &left); !errors.Is(err, broken) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

// TestDiff applies the differences of random lists in steps of every size, each with new
// readers, and compares with the new list.
func TestDiff(t *testing.T) {
	forSeeds(t, 5000, func(random *rand.Rand) error {
		old, now := randomList(random), randomList(random)
		var bound *Bound
		most := 1 << 20
		if random.IntN(4) > 0 {
			bound = &Bound{Entries: 1 + random.IntN(6), Bytes: 1 + random.IntN(100), TargetBytes: random.IntN(5)}
			most = bound.Entries
		}
		rows := targets(old)
		changed, last := 0, ""
		var wrong error
		steps(t, old, now, bound, func(target string, before, after [][]string) {
			if changed++; changed > most {
				wrong = fmt.Errorf("%d targets changed in a step of at most %d", changed, most)
			}
			if target <= last || !slices.EqualFunc(rows[target], before, slices.Equal) {
				wrong = fmt.Errorf("%s after %s, with %q in place of %q", target, last, before, rows[target])
			}
			last = target
			if rows[target] = after; after == nil {
				delete(rows, target)
			}
		}, func() { changed = 0 })
		if got, want := fmt.Sprint(rows), fmt.Sprint(targets(now)); wrong != nil || got != want {
			return fmt.Errorf("from %v, %+v: %s\nwant %s\n%w", old, bound, got, want, wrong)
		}
		return nil
	})
}

// randomList has targets in order, some of them in several entries, cut anywhere.
func randomList(random *rand.Rand) list {
	if random.IntN(10) == 0 {
		return nil
	}
	l := list{nil}
	for target := 'a'; target < 'k'; target++ {
		for range max(0, random.IntN(5)-1) {
			last := &l[len(l)-1]
			*last = append(*last, entry{string(target), []string{"one", "two"}[:1+random.IntN(2)]})
			if random.IntN(3) == 0 {
				l = append(l, nil)
			}
		}
	}
	return l
}

func targets(l list) map[string][][]string {
	rows := make(map[string][][]string)
	for _, p := range l {
		for _, e := range p {
			rows[e.target] = append(rows[e.target], e.anchors)
		}
	}
	return rows
}
