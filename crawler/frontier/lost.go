package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// LoadLost loads a recorded fetch of an earlier run, unless that run has loaded it: it may have been
// killed in between. The next visit of the URL, which is due, may load nothing, because the host
// fails or says "not found" for the first time, and a replay of the records must give the same
// index even then.
func LoadLost(ctx context.Context, db *txn.DB, load Loader, fetched *page.Fetch) error {
	lost, err := isLost(ctx, db, fetched)
	if err != nil || !lost {
		return err
	}
	_, err = load.LoadAnd(ctx, fetched, func(ctx context.Context, tx *txn.Txn, _ loader.Effect) error {
		return update(ctx, tx, crawler.Job{URL: fetched.URL}, func(e *schema.FrontierEntry) error {
			e.ETag, e.LastModified = "", "" // of an earlier fetch
			if fetched.Time.Before(e.Due) { // it withdraws a page
				e.Due = fetched.Time
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("frontier: load %s, which an earlier run has recorded: %w", fetched.URL, err)
	}
	return nil
}

// isLost reports whether a fetch is newer than the last visit of its URL. Entries have whole
// milliseconds.
func isLost(ctx context.Context, db *txn.DB, fetched *page.Fetch) (bool, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	e, known, err := ReadEntry(ctx, tx, fetched.URL)
	return known && fetched.Time.Truncate(time.Millisecond).After(e.Last), err
}
