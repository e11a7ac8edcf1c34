package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/observers"
)

// closedGraph is what the cached link graph (observers.GraphCache) needs to serve the next process:
// the rows whose edges may have changed since its snapshot. Close writes it when the table is
// closed, so everything that it covers is on disk. It holds for one state of the store, for the same
// reasons as closedCounts.
type closedGraph struct {
	Ceiling  uint64   `json:"ceiling"`
	Snapshot uint64   `json:"snapshot"`
	Changed  [][]byte `json:"changed,omitempty"`
}

func (r *Repository) graphNotes() string { return filepath.Join(r.dir, "graph.changed") }

// newGraphCache returns the cache of the link graph; nil if other processes write to the table.
func (r *Repository) newGraphCache() *observers.GraphCache {
	if r.shared() {
		return nil
	}
	return observers.NewGraphCache(graphFile(filepath.Join(r.dir, "graph")), func(what string, err error) {
		r.log.Warn("could not "+what+"; the next tie-breaking reads the whole link graph from the store", zap.Error(err))
	})
}

// graphFile is the path of the cached link graph.
type graphFile string

func (f graphFile) Read() ([]byte, error) { return os.ReadFile(string(f)) }

func (f graphFile) Write(ctx context.Context, content []byte) error {
	return osfile.Write(ctx, string(f), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// keepGraph takes over the link graph of the last process, if nothing was written since it closed
// the table.
func (r *Repository) keepGraph() error {
	b, err := os.ReadFile(r.graphNotes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what changed in the link graph: %w", err)
	}
	var c closedGraph
	if err := json.Unmarshal(b, &c); err != nil {
		r.log.Warn("this file is damaged, so the next tie-breaking reads the whole link graph from the store", zap.String("file", r.graphNotes()), zap.Error(err))
		return nil
	}
	if c.Ceiling == r.db.Began() {
		r.graph.Restore(c.Snapshot, c.Changed)
	}
	return nil
}

// noteGraph writes what the next keepGraph reads. The table must be closed.
func (r *Repository) noteGraph() {
	if !r.complete || r.graph == nil {
		return
	}
	snapshot, changed, ok := r.graph.Notes()
	if !ok {
		return
	}
	err := osfile.Write(context.Background(), r.graphNotes(), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(closedGraph{Ceiling: r.db.Ceiling(), Snapshot: snapshot, Changed: changed})
	})
	if err != nil {
		r.log.Warn("could not note what changed in the link graph; the next tie-breaking reads all of it from the store", zap.Error(err))
	}
}
