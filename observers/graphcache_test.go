package observers

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/pagerank"
)

// graphCacheModel runs rank and settle at the same time, as far as GraphCache notices: timestamps, notes
// and snapshots, and neither rows nor ranks.
type graphCacheModel struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	cache  *GraphCache
	now    uint64 // the last timestamp

	run     uint64 // start of the run of rank that is under way; 0: none is
	rows    []string
	commits map[string][]uint64 // of each row

	snapshot uint64            // of the run of settle that is under way; 0: none is
	began    *cachedGraph      // nil: it has not begun
	written  map[uint64]uint64 // snapshots of the files that were written, by their hash
	used     int               // runs that used the file
}

func (m *graphCacheModel) tick() uint64 {
	m.now++
	return m.now
}

// rank lets a run of rank go on by a step.
func (m *graphCacheModel) rank() {
	switch row := fmt.Sprint(m.random.IntN(12)); {
	case m.run == 0:
		m.run, m.rows = m.tick(), nil
		m.cache.rankBegins(m.run)
	case m.random.IntN(3) > 0:
		m.cache.note(row)
		m.rows = append(m.rows, row)
	default:
		if m.random.IntN(4) > 0 { // else it fails
			commit := m.tick()
			for _, row := range m.rows {
				m.commits[row] = append(m.commits[row], commit)
			}
		}
		m.run = 0
	}
}

// settle lets a run of settle go on by a step.
func (m *graphCacheModel) settle() {
	switch {
	case m.snapshot == 0:
		m.snapshot = m.tick()
	case m.began == nil:
		m.began = m.cache.begin(m.snapshot)
		m.limit()
		m.check()
	default:
		if m.random.IntN(4) > 0 { // else the solve fails
			m.write()
		}
		m.snapshot, m.began = 0, nil
	}
}

// limit lets a few notes be too many.
func (m *graphCacheModel) limit() { m.cache.most = 5 + m.random.IntN(8) }

// check looks whether a run that uses the file reads all rows again that have changed since.
func (m *graphCacheModel) check() {
	if m.began.stored == 0 {
		return
	}
	m.used++
	stored := m.written[m.began.stored]
	for row, commits := range m.commits {
		for _, commit := range commits {
			if commit > stored && commit <= m.snapshot && !slices.Contains(m.began.changed, row) {
				m.t.Fatalf("seed %d: row %s changed at %d, between the file's snapshot %d and that of the run, %d; the run reads only %q again",
					m.seed, row, commit, stored, m.snapshot, m.began.changed)
			}
		}
	}
}

func (m *graphCacheModel) write() {
	none := func(func(pagerank.Node, error) bool) {}
	g, err := pagerank.BuildLinkGraph(none, iter.Seq2[pagerank.Change, error](func(func(pagerank.Change, error) bool) {}))
	if err != nil {
		m.t.Fatal(err)
	}
	m.began.LinkGraph = g
	if err := m.cache.write(m.t.Context(), m.began, nil); err != nil {
		m.t.Fatal(err)
	}
	if _, old := m.written[m.cache.stored]; !old {
		m.written[m.cache.stored] = m.snapshot
	}
	m.limit()
}

// restart closes the table after all transactions, and opens it again.
func (m *graphCacheModel) restart() {
	if m.run != 0 || m.snapshot != 0 {
		return
	}
	stored, rows, ok := m.cache.Notes()
	m.cache = m.newCache()
	if ok {
		m.cache.Restore(stored, rows)
	}
	m.limit()
}

// forgetful is a GraphFile that nothing reads.
type forgetful struct{}

func (forgetful) Read() ([]byte, error)               { return nil, fs.ErrNotExist }
func (forgetful) Write(context.Context, []byte) error { return nil }

func (m *graphCacheModel) newCache() *GraphCache {
	return NewGraphCache(forgetful{}, func(what string, err error) { m.t.Errorf("%s: %v", what, err) })
}

// TestGraphCacheNotes checks the numbered invariants of GraphCache in random orders of events.
func TestGraphCacheNotes(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Seeds(t, 0, uint64(testenv.Size(5, 20, 2000))) {
		m := &graphCacheModel{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 6)), commits: make(map[string][]uint64), written: make(map[uint64]uint64)}
		m.cache = m.newCache()
		for range 400 {
			switch n := m.random.IntN(40); {
			case n == 0:
				m.restart()
			case n < 25:
				m.rank()
			default:
				m.settle()
			}
		}
		if m.used == 0 {
			t.Errorf("seed %d: no run used the file", seed)
		}
	}
}
