package bigtable

import (
	"sync/atomic"

	"github.com/webindexer/indexer/store/internal/engine"
)

type counters struct {
	engine.Counters
	resolved, unknown, readAgain atomic.Int64
}

// Stats counts the calls of the table since Open, and the requests to Bigtable that they took.
// Guarded counts the calls of Mutate with guards; a refusal takes a read as well.
type Stats struct {
	engine.Stats
	// Resolved and Unknown are guarded mutations whose answer was lost: with, and without, an
	// outcome that a read could tell.
	Resolved, Unknown int64
	// ReadAgain are reads that a shared request could not answer.
	ReadAgain int64
}

// Stats returns the counts since Open.
func (db *DB) Stats() Stats {
	c := &db.counters
	return Stats{Stats: c.Counters.Stats(), Resolved: c.resolved.Load(), Unknown: c.unknown.Load(), ReadAgain: c.readAgain.Load()}
}
