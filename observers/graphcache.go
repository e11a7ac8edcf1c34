package observers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/txn"
)

// A GraphCache keeps the link graph for settle, so that a run reads only the rows that have changed.
// A file has the graph of one snapshot. Memory has the rows whose edges may have changed since: rank
// notes each row before it changes the edges.
//
// It is for a table that no other process uses. Its methods are safe for concurrent use.
//
// # Why no change is missed
//
//  1. rank notes a row in its transaction, before any other transaction can see the change. A
//     run of settle copies the notes after it has taken its snapshot. So it reads again every
//     row whose edges differ between its snapshot and the file. A superfluous note costs a read.
//  2. When the graph of a later snapshot is in the file, notes of changes that this snapshot has
//     are dropped. Only one run of rank is under way at a time (notify.Observer.Exclusive), and
//     timestamps ascend. So if the last run began before the snapshot, all runs before that one
//     had committed by then. The notes of the last run and of later runs stay. If the last run
//     began after the snapshot, the file is not replaced.
//  3. If there are too many notes, only those of the last run stay, and the file is void. The next run
//     of settle reads everything. By 2, it needs no other notes to write the next file.
//  4. Close saves the notes for the next process after it has closed the table
//     (repository/closedgraph.go). After a kill, they are gone, and the file is void.
type GraphCache struct {
	file GraphFile
	warn func(what string, err error)

	mu       sync.Mutex
	noted    map[string]uint64 // rows, with the start timestamp of the run of rank that noted them last
	run      uint64            // the last run of rank that has begun
	most     int               // rows to note
	overflow int               // how often there were more
	stored   uint64            // hash of what was written to the file; 0: the file is void
	partial  bool              // noted has nothing but rows of run
}

const (
	// mostNoted bounds the noted rows. Reading that many takes some seconds.
	mostNoted = 1 << 17
	// notedShare and leastNoted decide when to read everything: that takes less time than reading
	// an eighth of the rows one by one, unless they are few.
	notedShare, leastNoted = 8, 1 << 10
	// storedShare says when the file is written again: when a 64th of the rows has changed.
	storedShare = 64
)

// GraphFile is a file that a GraphCache reads and replaces.
type GraphFile interface {
	Read() ([]byte, error)
	Write(ctx context.Context, content []byte) error
}

// NewGraphCache returns an empty cache that keeps the graph in a file. If the file cannot be
// read or written, the cache calls warn and works without it.
func NewGraphCache(file GraphFile, warn func(what string, err error)) *GraphCache {
	return &GraphCache{file: file, warn: warn, noted: make(map[string]uint64), most: mostNoted, partial: true}
}

// Restore adopts what Notes returned in the last process, as notes of run 0.
func (c *GraphCache) Restore(stored uint64, rows [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored, c.partial = stored, false
	for _, row := range rows {
		c.noted[string(row)] = 0
	}
}

// Notes returns a hash of the file, and the rows whose edges may have changed
// since. It returns false if the file is void.
func (c *GraphCache) Notes() (stored uint64, rows [][]byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range slices.Sorted(maps.Keys(c.noted)) {
		rows = append(rows, []byte(row))
	}
	return c.stored, rows, c.stored != 0
}

// rankBegins notes that a run of rank has begun, by its start timestamp. The previous run
// has ended.
func (c *GraphCache) rankBegins(start uint64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = start
	if c.partial {
		clear(c.noted)
	}
}

// note notes that the run of rank may change the edges of a row.
func (c *GraphCache) note(row string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noted[row] = c.run
	if !c.partial && len(c.noted) > c.most {
		c.partial, c.stored = true, 0
		c.overflow++
		maps.DeleteFunc(c.noted, func(_ string, by uint64) bool { return by != c.run })
	}
}

// A cachedGraph is the graph of a snapshot, as a run of settle uses it.
type cachedGraph struct {
	*pagerank.LinkGraph
	stored   uint64   // hash of the file when the run began; 0: it was void
	changed  []string // rows that had been noted by then
	keep     bool     // notes before the run "from" of rank may be dropped once the graph is in the file
	from     uint64
	overflow int
}

// graph returns the graph of a transaction's snapshot. A nil cache reads all rows.
func (c *GraphCache) graph(ctx context.Context, tx *txn.Txn) (*cachedGraph, error) {
	g := c.begin(tx.Start())
	if g.stored != 0 {
		err := c.read(ctx, tx, g)
		if !errors.Is(err, errCache) { // done, or an error of the table
			return g, err
		}
		c.warn("read the link graph of the last tie-breaking", err)
	}
	g.stored = 0
	var err error
	g.LinkGraph, err = readLinkGraph(ctx, tx)
	return g, err
}

func (c *GraphCache) begin(snapshot uint64) *cachedGraph {
	g := new(cachedGraph)
	if c == nil {
		return g
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g.keep, g.from = c.run < snapshot, max(c.run, 1)
	if c.partial {
		c.partial, c.most = false, mostNoted
	}
	g.stored, g.overflow = c.stored, c.overflow
	if g.stored != 0 {
		g.changed = slices.Sorted(maps.Keys(c.noted))
	}
	return g
}

// hashOf returns a hash that distinguishes the content of the file from any other, even that
// of another directory. It is never 0.
func hashOf(content []byte) uint64 { return xxhash.Sum64(content) | 1 }

// errCache wraps errors of the file.
var errCache = errors.New("cached link graph")

// read reads the file, and the rows that have changed since.
func (c *GraphCache) read(ctx context.Context, tx *txn.Txn, g *cachedGraph) error {
	b, err := c.file.Read()
	if err != nil {
		return fmt.Errorf("%w: %w", errCache, err)
	}
	if hashOf(b) != g.stored {
		return fmt.Errorf("%w: its content is not what was written", errCache)
	}
	stored, err := pagerank.DecodeLinkGraph(b)
	if err != nil {
		return fmt.Errorf("%w: %w", errCache, err)
	}
	rows := &rankRows{tx: tx}
	for _, row := range g.changed {
		edges, _, err := rows.edges(ctx, row)
		if err != nil {
			return fmt.Errorf("edges of %q: %w", row, err)
		}
		if err := stored.SetTargets(row, edges.Targets); err != nil {
			return fmt.Errorf("%w: edges of %q: %w", errCache, row, err)
		}
	}
	g.LinkGraph = stored
	return nil
}

// forget makes the file void.
func (c *GraphCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored = 0
}

// write writes the graph to the file, with the ranks that were found, if the file is void or
// much has changed since it was written.
func (c *GraphCache) write(ctx context.Context, g *cachedGraph, ranks []float64) error {
	if c == nil || !g.keep || g.stored != 0 && len(g.changed) <= g.Nodes()/storedShare {
		return nil
	}
	if g.stored != 0 && g.Nodes() > leastNoted && 2*g.Unlinked() > g.Nodes() {
		c.forget() // nodes that have lost their edges stay in it until all rows are read
		return nil
	}
	g.Ranks = ranks
	content := g.Encode()
	err := c.file.Write(ctx, content)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		c.warn("write the link graph for the next tie-breaking", err)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.overflow != g.overflow {
		return nil // what has changed since the snapshot is unknown
	}
	c.stored, c.most = hashOf(content), min(max(g.Nodes()/notedShare, leastNoted), mostNoted)
	maps.DeleteFunc(c.noted, func(_ string, by uint64) bool { return by < g.from })
	return nil
}
