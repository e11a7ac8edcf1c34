package cluster

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// seeds yields the given number of seeds, new ones in each run; a tenth of them with -short; or
// only INDEXER_SEED.
func seeds(t *testing.T, n uint64) iter.Seq[uint64] {
	t.Helper()
	first, only := testenv.FirstSeed(t, testenv.Fresh(t))
	switch {
	case only:
		n = 1
	case testing.Short():
		n /= 10
	case testenv.Long():
		n *= 10
	}
	return func(yield func(uint64) bool) {
		for i := range n {
			if !yield(first + i) {
				return
			}
		}
	}
}

// world is a cluster in memory: its members, and its stored summaries.
type world struct {
	members map[string]Ranked // by position
	sorted  []string          // positions; nil after a change
	stored  map[string]Summary
	read    int // members
}

func newWorld() *world {
	return &world{members: make(map[string]Ranked), stored: make(map[string]Summary)}
}

// position orders members as semantics.md section 4 does.
func position(m Member) string {
	class := 2
	if m.Eligible {
		class = 1
	}
	if m.Eligible && strings.HasPrefix(string(m.URL), "https:") {
		class = 0
	}
	return fmt.Sprintf("%d%04d%s", class, len(m.URL), m.URL)
}

func (w *world) add(m Ranked) (at string) {
	at = position(m.Member)
	w.members[at], w.sorted = m, nil
	return at
}

func (w *world) remove(at string) {
	delete(w.members, at)
	w.sorted = nil
}

// positions are those of all members, in order.
func (w *world) positions() []string {
	if w.sorted == nil {
		w.sorted = slices.Sorted(maps.Keys(w.members))
	}
	return w.sorted
}

// Members implements Reader.
func (w *world) Members(_ context.Context, from, to string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		all := w.positions()
		for _, at := range all[sort.SearchStrings(all, from):] {
			if to != "" && at >= to {
				return
			}
			w.read++
			if !yield(Entry{at, w.members[at]}, nil) {
				return
			}
		}
	}
}

// list is all members in the order of preference.
func (w *world) list() (list []Ranked) {
	for _, at := range w.positions() {
		list = append(list, w.members[at])
	}
	return list
}

// summaries reads what is stored.
func (w *world) summaries() *Summaries {
	s := &Summaries{}
	for _, at := range slices.Sorted(maps.Keys(w.stored)) {
		s.Parts = append(s.Parts, Part{at, w.stored[at]})
	}
	return s
}

func (w *world) apply(r *Renewal) {
	for _, c := range r.Writes {
		if c.Delete {
			delete(w.stored, c.At)
		} else {
			w.stored[c.At] = c.Summary
		}
	}
}

// renew makes one run, and returns the positions that another one has to renew.
func (w *world) renew(t *testing.T, l Limits, positions []string) (again []string) {
	t.Helper()
	given := len(positions) // the transaction acknowledges each of them
	b := NewBudget(l, given)
	s := w.summaries()
	if len(s.Parts) == 0 {
		s.Begin(b)
		positions = append(slices.Clone(positions), "")
	}
	r, err := s.Renew(t.Context(), w, b, slices.Clone(positions))
	if err != nil {
		t.Fatal(err)
	}
	w.apply(r)
	if got, want := fmt.Sprint(w.summaries().Parts), fmt.Sprint(s.Parts); got != want {
		t.Errorf("the writes lead to %s, not to %s", got, want)
	}
	if n := given + len(r.Writes) + len(r.Again); n > l.Writes {
		t.Errorf("a run for %d positions made %d mutations, more than %d", given, n, l.Writes)
	}
	return r.Again
}

// renewAll makes runs until all summaries are renewed.
func (w *world) renewAll(t *testing.T, l Limits, positions []string) (runs int) {
	t.Helper()
	for ; len(positions) > 0; runs++ {
		if runs > 500 {
			t.Fatal("the summaries are never all read")
		}
		positions = w.renew(t, l, positions)
	}
	return runs
}

// differences returns the positions of summaries that disagree with the members.
func (w *world) differences() (at []string) {
	c := NewCheck(w.summaries(), func(position string, _, _ Summary) { at = append(at, position) })
	for _, p := range w.positions() {
		c.Add(&Entry{p, w.members[p]})
	}
	c.End()
	return at
}

func url(s string) page.URL { return page.MustParseURL(s) }
