package counts

import (
	"context"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/txn"
)

// A Cache keeps counts, so that counting again costs work in proportion to what was written since.
//
// It divides the rows of each part into ranges of about a thousand cells, and keeps a tally of each
// range with the timestamp of the snapshot at which it was counted. Each commit tells the cache which
// cells it wrote (Written). Read recounts the ranges that have been written since, and returns the
// sum of all.
//
// # Why the sum is right
//
//  1. A range holds for a snapshot if nothing was committed in it between its own snapshot and that
//     one. Written is called after a commit has become visible, so for a moment Read may use a range as it
//     was before a commit that its snapshot sees. The next Read counts the range again, because the commit
//     is above its timestamp.
//  2. The count of a range sees all commits up to its timestamp. Written may be called with later
//     ones at any time after the snapshot was taken. So from before that moment, the cache notes
//     them (during), and applies them again to the ranges that were counted.
//  3. Only one Read runs at a time, and its snapshot is not older than that of the Read before it.
//  4. All fields of a tally are whole numbers, so it does not matter how rows are divided.
//  5. Rank states are not only in rows: a large run of the observer rank leaves a journal, which counts at
//     once and reaches the rows later. While there is a journal, the cache does not keep the counts of
//     ranks.
//
// # Rejected
//
// Counters that the observers' transactions add to. Most of what is counted is cheap for an
// observer to know, but not all of it: to know that nothing else makes a URL known, or that a
// member was the last of its cluster, every transaction would have to read other rows.
type Cache struct {
	reading chan struct{} // holds a token while Read runs
	cells   int           // in a new range

	mu        sync.Mutex
	documents bool // how the part "urls" was counted
	parts     map[string]*ranges
	changed   bool // since Decode

	counting bool          // a Read has taken its snapshot, or is about to
	during   []writtenCell // written since then
}

// A writtenCell is a cell with the timestamp of a commit that wrote it.
type writtenCell struct {
	cell   txn.Cell
	commit uint64
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{reading: make(chan struct{}, 1), cells: rangeCells, parts: make(map[string]*ranges)}
}

const (
	fewRanges = 64      // so few ranges are kept even if most of them are stale
	maxDuring = 1 << 16 // written cells that are noted while a Read runs
)

// Written tells the cache which cells were written at a commit timestamp. It is safe for concurrent
// use.
func (c *Cache) Written(commit uint64, cells iter.Seq[txn.Cell]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parts) == 0 && !c.counting {
		return
	}
	for cell := range cells {
		if c.counting && len(c.during) <= maxDuring {
			c.during = append(c.during, writtenCell{cell, commit})
		}
		c.written(cell, commit)
	}
}

func (c *Cache) written(cell txn.Cell, commit uint64) {
	for _, p := range parts(c.documents) {
		r := c.parts[p.name]
		if r == nil || !slices.Contains(p.groups, cell.Group) {
			continue
		}
		r.write(cell.Row, commit)
		c.changed = true
		if r.stale > len(r.list)/2 && len(r.list) >= fewRanges {
			delete(c.parts, p.name) // much is being loaded: the next Read counts everything
		}
	}
}

// Read counts as of a snapshot. begin returns a transaction that takes it, and at returns
// further transactions that read at its timestamp. Read rolls all of them back.
func (c *Cache) Read(ctx context.Context, begin func(context.Context) (*txn.Txn, error), at func(context.Context, uint64) (*txn.Txn, error)) (Counts, error) {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return Counts{}, context.Cause(ctx)
	}
	c.startCounting()
	defer c.endCounting()
	tx, err := begin(ctx)
	if err != nil {
		return Counts{}, err
	}
	defer tx.Rollback()
	facts, err := readFacts(ctx, tx)
	if err != nil {
		return Counts{}, err
	}
	counted, err := c.countStale(ctx, facts, func(ctx context.Context) (*txn.Txn, error) { return at(ctx, tx.Start()) })
	if err != nil {
		return Counts{}, err
	}
	sum := c.keep(counted)
	if facts.journal {
		c.forget("ranks")
	}
	return sum.counts(facts.tolerance), nil
}

func (c *Cache) startCounting() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counting = true
}

// endCounting applies to the ranges again what was written since startCounting.
func (c *Cache) endCounting() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.during) > maxDuring { // not all of it was noted
		clear(c.parts)
	}
	for _, w := range c.during {
		c.written(w.cell, w.commit)
	}
	c.counting, c.during = false, nil
}

func (c *Cache) forget(part string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.parts, part)
}

// Changed reports whether Encode would return anything other than what was decoded.
func (c *Cache) Changed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// A countedPart is a part with its new counts.
type countedPart struct {
	part   *part
	ranges *ranges
	size   int // cells in a new range
	spans  []span
	list   [][]rowRange // of each span
}

// countStale counts, in all parts at the same time, what was written since the last count.
func (c *Cache) countStale(ctx context.Context, f facts, at func(context.Context) (*txn.Txn, error)) ([]countedPart, error) {
	list := c.stale(f)
	g, ctx := errgroup.WithContext(ctx)
	for i := range list {
		p := &list[i]
		g.Go(func() error {
			tx, err := at(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			for i := 0; i < len(p.spans) && err == nil; i++ {
				p.list[i], err = p.part.countRanges(ctx, tx, p.spans[i], p.size)
			}
			return err
		})
	}
	return list, g.Wait()
}

// stale returns what must be counted again.
func (c *Cache) stale(f facts) (list []countedPart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.documents != c.documents {
		c.documents = f.documents
		delete(c.parts, "urls")
	}
	if f.journal {
		delete(c.parts, "ranks")
	}
	for i := range parts(f.documents) {
		p := &parts(f.documents)[i]
		r := c.parts[p.name]
		if r == nil {
			r = newRanges(c.cells)
		}
		spans := r.staleSpans()
		list = append(list, countedPart{p, r, r.size, spans, make([][]rowRange, len(spans))})
	}
	return list
}

// countRanges counts a span, in ranges of about size cells each.
func (p *part) countRanges(ctx context.Context, tx *txn.Txn, in span, size int) ([]rowRange, error) {
	list := []rowRange{{start: in.from, counted: tx.Start()}}
	cells := 0
	for it, err := range p.scan(ctx, tx, in) {
		if err != nil {
			return nil, err
		}
		if cells > 0 && cells+it.cells > size {
			list = append(list, rowRange{start: it.key, counted: tx.Start()})
			cells = 0
		}
		list[len(list)-1].tally.add(&it.tally)
		cells += it.cells
	}
	return list, nil
}

// keep stores the new counts and returns the sum of all.
func (c *Cache) keep(list []countedPart) (sum tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range list {
		t := p.ranges.replace(p.spans, p.list)
		sum.add(&t)
		c.parts[p.part.name] = p.ranges
		c.changed = c.changed || len(p.spans) > 0
	}
	return sum
}
