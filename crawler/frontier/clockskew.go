package frontier

import (
	"context"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// maxAhead is longer than any visit is planned ahead: intervals are at most a year.
const maxAhead = 400 * 24 * time.Hour

// clockSkew reads revisits that are due so late that a wrong clock must have planned
// them. They are due now, and the visit plans the next one by the current clock.
func (f *Frontier) clockSkew(ctx context.Context, tx *txn.Txn, host string, now time.Time, n int) ([]crawler.Job, error) {
	prefix := schema.QueueRevisits(host)
	var jobs []crawler.Job
	err := tx.Scan(ctx, schema.GroupQueue, schema.QueueRevisitsFrom(host, now.Add(maxAhead)), txn.PrefixEnd(prefix), func(row string, _ []txn.Version) error {
		if len(jobs) == n {
			return txn.ErrStop
		}
		_, u, _, err := schema.ParseQueueRow(row)
		if err != nil {
			return err
		}
		e, known, err := ReadEntry(ctx, tx, u)
		if err != nil || !known {
			return err
		}
		j := jobOf(u, e)
		j.Due = now
		jobs = append(jobs, j)
		return nil
	})
	return jobs, err
}
