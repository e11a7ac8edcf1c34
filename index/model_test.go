package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// history is a pipeline seen from the index: a state that changes by steps, in
// which a URL belongs to at most one cluster, and changes computed from it some
// time after each step (property P of apply.go), some of them without need.
type history struct {
	rng     *rand.Rand
	seq     uint64
	state   map[string]*Document // by cluster name
	dirty   map[string]bool
	changes []Change
	words   int
}

const (
	modelClusters = 12
	modelURLs     = 8 // fewer than clusters, so that they fight for them
)

func newHistory(seed uint64, steps int) *history {
	h := &history{rng: rand.New(rand.NewPCG(seed, 7)), state: map[string]*Document{}, dirty: map[string]bool{}}
	for range steps {
		h.step()
		for _, c := range slices.Sorted(maps.Keys(h.dirty)) {
			if h.rng.IntN(3) == 0 {
				h.export(c)
			}
		}
		if h.rng.IntN(4) == 0 {
			h.export(h.cluster()) // a re-export that nothing called for
		}
	}
	for _, c := range slices.Sorted(maps.Keys(h.dirty)) {
		h.export(c)
	}
	return h
}

func (h *history) cluster() string { return fmt.Sprint("c", h.rng.IntN(modelClusters)) }

// step moves a cluster to a URL, with or without new text, or deletes it. Who
// had the URL loses it at the same snapshot or takes the mover's in exchange.
func (h *history) step() {
	h.seq++
	c := h.cluster()
	h.dirty[c] = true
	old := h.state[c]
	if h.rng.IntN(4) == 0 {
		delete(h.state, c)
		return
	}
	d := &Document{Cluster: key(c), URL: page.URL(fmt.Sprintf("https://example.org/%d", h.rng.IntN(modelURLs))), Rank: h.rng.Float64()}
	h.words++
	d.Text = fmt.Sprintf("common uniq%d", h.words)
	if old != nil && h.rng.IntN(2) == 0 {
		d.Text = old.Text
	}
	for _, name := range slices.Sorted(maps.Keys(h.state)) {
		other := h.state[name]
		if name == c || other.URL != d.URL {
			continue
		}
		h.dirty[name] = true
		delete(h.state, name)
		if old != nil && h.rng.IntN(2) == 0 {
			swapped := *other
			swapped.URL = old.URL
			h.state[name] = &swapped
		}
	}
	h.state[c] = d
}

// export computes a cluster's change at the present snapshot.
func (h *history) export(c string) {
	delete(h.dirty, c)
	h.seq++
	if d := h.state[c]; d != nil {
		snapshot := *d
		snapshot.Seq = h.seq
		h.changes = append(h.changes, Upsert(&snapshot))
		return
	}
	h.changes = append(h.changes, Delete(key(c), h.seq))
}

// TestModel delivers histories in any order, with duplicates, from several
// goroutines: the index is the last state, and full text and rows agree.
func TestModel(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(4, 15, 500))) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { runModel(t, seed) })
	}
}

func runModel(t *testing.T, seed uint64) {
	h := newHistory(seed, 150)
	if len(h.state) < 2 {
		t.Skip("history ends almost empty")
	}
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	deliver(t, w, h)
	r := openTestReader(t, dir)
	want := map[page.URL]*Document{}
	for _, d := range h.state {
		want[d.URL] = d
	}
	err := r.Documents(t.Context(), func(d Document) error {
		m := want[d.URL]
		if m == nil || m.Cluster != d.Cluster || m.Text != d.Text || m.Rank != d.Rank {
			t.Errorf("document %+v, the model has %+v", d, m)
		}
		delete(want, d.URL)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for u := range want {
		t.Errorf("%s is missing", u)
	}
	checkFullText(t, r, h)
}

// deliver applies the changes: shuffled, some twice, in batches of any size, from
// four goroutines.
func deliver(t *testing.T, w *Writer, h *history) {
	list := slices.Clone(h.changes)
	for _, c := range h.changes {
		if h.rng.IntN(3) == 0 {
			list = append(list, c)
		}
	}
	h.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	batches := make(chan []Change)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for b := range batches {
				if err := w.Apply(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for len(list) > 0 {
		n := min(1+h.rng.IntN(8), len(list))
		batches <- list[:n]
		list = list[n:]
	}
	close(batches)
	wg.Wait()
}

// checkFullText looks for every text there ever was: exactly the present ones are found.
func checkFullText(t *testing.T, r *Reader, h *history) {
	present := map[string]page.URL{}
	for _, d := range h.state {
		var n int
		fmt.Sscanf(d.Text, "common uniq%d", &n)
		present[fmt.Sprint("uniq", n)] = d.URL
	}
	for n := 1; n <= h.words; n++ {
		word := fmt.Sprint("uniq", n)
		res, err := r.Search(t.Context(), word, search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		switch u, ok := present[word]; {
		case ok && (res.Total != 1 || res.Hits[0].URL != u):
			t.Errorf("%s: %+v, want %s", word, res.Hits, u)
		case !ok && res.Total != 0:
			t.Errorf("%s: %+v, want nothing", word, res.Hits)
		}
	}
	res, err := r.Search(t.Context(), "common", search.Options{})
	if err != nil || res.Total != len(h.state) {
		t.Errorf("common: total %d (%v), want %d", res.Total, err, len(h.state))
	}
}
