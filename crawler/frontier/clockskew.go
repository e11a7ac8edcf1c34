package frontier

import (
	"context"
	"math"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// maxAhead is longer than any visit is planned ahead: intervals are at most a year.
const maxAhead = 400 * 24 * time.Hour

// clockSkew reads revisits that are due so late that a wrong clock must have planned
// them. They are due now, and the visit plans the next one by the current clock.
func clockSkew(ctx context.Context, tx *txn.Txn, host string, now time.Time, n int) ([]crawler.Job, error) {
	from, ever := schema.QueueRevisitsFrom(host, now.Add(maxAhead)), time.UnixMilli(math.MaxInt64)
	jobs, _, _, err := part(ctx, tx, schema.QueueRevisits(host), from, ever, n)
	for i := range jobs {
		jobs[i].Due = now
	}
	return jobs, err
}
