package repository

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/observers"
)

// closedGraph is what the cached link graph (observers.GraphCache) needs to serve the next process:
// the rows whose edges may have changed since it was written. Close writes closedGraph when the
// table is closed, so everything that it covers is on disk.
//
// It holds for one state of the store: Close puts a random number here and, in its last
// transaction, into the table, with the note that holds only for that state (closedCounts). So a
// closedGraph is not mistaken for that of another store, or of an earlier state of this store that
// was restored.
type closedGraph struct {
	Number  uint64   `json:"number"`
	Graph   uint64   `json:"graph"` // hash of the graph file
	Changed [][]byte `json:"changed,omitempty"`
}

// The file has a CRC-32C in hexadecimal on its first line, and then the closedGraph in JSON. Without
// the checksum, a damaged entry would be a row that is not read again.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (g *closedGraph) encode() ([]byte, error) {
	text, err := json.Marshal(g)
	return append(fmt.Appendf(nil, "%08x\n", crc32.Checksum(text, castagnoli)), text...), err
}

func decodeClosedGraph(b []byte) (g closedGraph, err error) {
	sum, text, _ := bytes.Cut(b, []byte{'\n'})
	if string(sum) != fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) {
		return g, errors.New("wrong checksum")
	}
	return g, json.Unmarshal(text, &g)
}

func (r *Repository) graphNotes() string { return filepath.Join(r.dir, "graph.changed") }

// newGraphCache returns the cache of the link graph, or nil if other processes write to the table.
func (r *Repository) newGraphCache() *observers.GraphCache {
	if r.shared() {
		return nil
	}
	return observers.NewGraphCache(graphFile(filepath.Join(r.dir, "graph")), func(what string, err error) {
		r.log.Warn("could not "+what+"; that only costs time", zap.Error(err))
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

// keepGraph adopts the link graph that the last process noted under a number.
func (r *Repository) keepGraph(number uint64) {
	if r.graph == nil || number == 0 {
		return
	}
	b, err := os.ReadFile(r.graphNotes())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var c closedGraph
	if err == nil {
		c, err = decodeClosedGraph(b)
	}
	if err != nil {
		r.log.Warn("could not read what changed in the link graph; the next tie-breaking reads all of it from the store", zap.String("file", r.graphNotes()), zap.Error(err))
		return
	}
	if c.Number == number {
		r.graph.Restore(c.Graph, c.Changed)
	}
}

// graphNumber returns a number for noteGraph, or 0 if there is nothing to note.
func (r *Repository) graphNumber() uint64 {
	if r.graph == nil {
		return 0
	}
	if _, _, ok := r.graph.Notes(); !ok {
		return 0
	}
	return rand.Uint64() | 1
}

// noteGraph writes what the next keepGraph reads, under the number that is in the table. The table
// must be closed.
func (r *Repository) noteGraph() {
	if r.graphNoted == 0 {
		return
	}
	graph, changed, _ := r.graph.Notes()
	b, err := (&closedGraph{Number: r.graphNoted, Graph: graph, Changed: changed}).encode()
	if err == nil {
		err = graphFile(r.graphNotes()).Write(context.Background(), b)
	}
	if err != nil {
		r.log.Warn("could not note what changed in the link graph; the next tie-breaking reads all of it from the store", zap.Error(err))
	}
}
