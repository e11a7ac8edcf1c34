package postgres

import "github.com/webindexer/indexer/store/internal/engine"

// Stats counts the calls of the table since Open, and the round trips to the server that they
// took. Guarded counts all calls of Mutate.
type Stats = engine.Stats

// Stats returns the counts since Open.
func (t *table) Stats() Stats { return t.counters.Stats() }
