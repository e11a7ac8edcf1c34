package repository

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
)

// Latency is how long some reads of a store took, in milliseconds.
type Latency struct {
	Median   float64 `json:"p50"`
	Greatest float64 `json:"max"`
	Reads    int     `json:"n"`
}

// Probe measures how long a store takes to answer a few reads, one after the other, of rows
// that do not exist.
func Probe(ctx context.Context, table store.Reader, reads int) (Latency, error) {
	took := make([]time.Duration, reads)
	for i := range took {
		began := time.Now()
		if _, err := table.Read(ctx, []byte("probe/"+rand.Text()), store.Selector{Group: schema.GroupURL, Prefix: true, Newest: 1}); err != nil {
			return Latency{}, fmt.Errorf("measure how long the store takes: %w", err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	exactly := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 } // Badger takes microseconds
	return Latency{Median: exactly(took[reads/2]), Greatest: exactly(took[reads-1]), Reads: reads}, nil
}

// Probe measures how long the store of the repository takes to answer.
func (r *Repository) Probe(ctx context.Context, reads int) (Latency, error) {
	return Probe(ctx, r.table, reads)
}
