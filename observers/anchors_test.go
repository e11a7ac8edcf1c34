package observers

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"indexer/index"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// TestBestAnchors has random links of sources with random ranks counted, in parts of
// every size, and compares with all of them sorted.
func TestBestAnchors(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 80
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 13))
		shown, counted := 1+random.IntN(5), 1+random.IntN(12)
		SetShown(t, ShownMembers, shown, counted)
		SetGiantMembers(t, random.IntN(4)) // who is inside is told by rows, or by walks
		w := newAnchorWorld(t, random)
		part := 1 + random.IntN(20)
		got, inlinks := w.assemble(t, part)
		want := w.best(shown, counted)
		if inlinks != w.inlinks || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d shown, %d counted, parts of %d\n%d inlinks %v\nwant %d %v", seed, shown, counted, part, inlinks, got, w.inlinks, want)
		}
	}
}

// anchorWorld is a cluster of two members with links to them, some from inside.
type anchorWorld struct {
	db      *txn.DB
	key     page.ContentKey
	inlinks int
	of      map[string]*weighedAnchor
}

type weighedAnchor struct {
	index.Anchor
	rank float64
}

func newAnchorWorld(t *testing.T, random *rand.Rand) *anchorWorld {
	t.Helper()
	w := &anchorWorld{db: bare(t), key: page.ContentKey{9}, of: make(map[string]*weighedAnchor)}
	members := []page.URL{"https://m.example/a", "https://m.example/bb"}
	write(t, w.db, func(tx *txn.Txn) error {
		for _, m := range members {
			tx.Set(schema.MemberRow(w.key, schema.MemberInfo{URL: m, Eligible: true}), schema.Member, nil)
			walk := schema.StoredChain{{URL: m, Outcome: page.Page, Key: w.key}}
			tx.Set(schema.URLRow(m), schema.Chain, walk.Encode())
			tx.Set(schema.PairRow(members[0], m), schema.Anchors, schema.EncodeAnchors([]string{"inside"}))
		}
		for i := range random.IntN(60) {
			source := page.MustParseURL(fmt.Sprintf("https://%c.example/%d", 'm'+rune(random.IntN(2)), 100+i))
			ranked := 0.15
			if random.IntN(2) == 0 {
				ranked = 0.15 + float64(random.IntN(4))/10
				tx.Set(schema.URLRow(source), schema.RankState, schema.StoredRankState{Inlinks: 1, Rank: ranked}.Encode())
			}
			for _, m := range members[:1+random.IntN(2)] {
				w.link(tx, source, m, ranked, random)
			}
		}
		return nil
	})
	return w
}

func (w *anchorWorld) link(tx *txn.Txn, source, target page.URL, rank float64, random *rand.Rand) {
	texts := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	texts = slices.Sorted(slices.Values(texts[:1+random.IntN(3)]))
	tx.Set(schema.PairRow(target, source), schema.Anchors, schema.EncodeAnchors(texts))
	w.inlinks += len(texts)
	for _, text := range texts {
		if text == "" {
			continue
		}
		if w.of[text] == nil {
			w.of[text] = &weighedAnchor{Anchor: index.Anchor{Text: text}}
		}
		a := w.of[text]
		a.Count++
		a.rank = max(a.rank, rank)
		if index.FromOtherSite(source, target) {
			a.Others++
		}
	}
}

// best is what a document must show: all anchors, or those with the best source.
func (w *anchorWorld) best(shown, counted int) []index.Anchor {
	var all []*weighedAnchor
	for _, a := range w.of {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *weighedAnchor) int {
		byCount := cmp.Compare(b.Count, a.Count)
		if len(all) > counted {
			byCount = 0
		}
		return cmp.Or(cmp.Compare(b.rank, a.rank), byCount, cmp.Compare(a.Text, b.Text))
	})
	list := []index.Anchor{}
	for _, a := range all[:min(len(all), shown)] {
		list = append(list, a.Anchor)
	}
	slices.SortFunc(list, func(a, b index.Anchor) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) })
	return list
}

// assemble reads the inlinks in parts, each in a transaction of its own.
func (w *anchorWorld) assemble(t *testing.T, part int) ([]index.Anchor, int) {
	t.Helper()
	a := &assembly{Assembled: &Assembled{Canonical: "https://m.example/a"}, sum: newSum(), visits: newInlinkVisit(w.key)}
	for runs, all := 0, false; !all; runs++ {
		if runs > 1000 {
			t.Fatal("it does not end")
		}
		write(t, w.db, func(tx *txn.Txn) (err error) {
			left := part
			all, err = a.next(t.Context(), tx, &left)
			return err
		})
	}
	d := a.finished()
	return d.anchors, d.Inlinks
}
