package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Where the index files are divided into shards, two observers do the work of refresh
// (refresh.go): a renewed fetch time is in the row of the URL, and only the content of
// that row says which cluster, and so which shard, the URL belongs to.

// relayRefreshed is the observer refresh if there are shards. Any process runs it.
//
//	watches  fetch:refreshed (weak only), at URL rows
//	reads    url:state
//	wakes    touch (weak), at the cluster of the content key
//
// Let u be a URL that was renewed at R, and consider a run with its snapshot at S > R. If u
// is not a page at S, or gets another content key later, an export that begins later reads
// the new time (refresh.go). Otherwise touch runs on the cluster of u at a later snapshot.
func relayRefreshed(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		state, _, err := readState(ctx, tx, row)
		if err != nil {
			return err
		}
		if state.Outcome == page.Page {
			tx.Notify(schema.ClusterRow(state.Key), schema.Touched)
		}
	}
	return nil
}

// toucher brings renewed fetch times to the shard of a cluster.
//
//	watches  index:touched (weak only), at cluster rows
//	reads    index:doc, for update; fetch:time and fetch:seen of its canonical URL
//	writes   the index files
//
// The document shows the time of the canonical URL, which index:doc names. It is read for
// update: if an export began before our snapshot and commits after it, this run has a
// conflict and is repeated. If the export commits after this run, the export has the
// conflict. So either the files have the document to which the time belongs, or an export
// that reads the new time follows. Files never set a time back.
type toucher struct{ sink Sink }

func (x *toucher) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	var touches []index.Touch
	for _, row := range rows {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		v, err := tx.GetForUpdate(ctx, row, schema.Indexed)
		if err != nil {
			return err
		}
		if !v.Exists { // the export that makes one reads the new time
			continue
		}
		d, err := schema.DecodeIndexed(v.Data)
		if err != nil {
			return fmt.Errorf("cluster %x: %w", key[:6], err)
		}
		at, err := FetchedAt(ctx, tx, d.URL)
		if err != nil {
			return fmt.Errorf("fetch time of %s: %w", d.URL, err)
		}
		touches = append(touches, index.Touch{Cluster: key, URL: d.URL, FetchedAt: at})
	}
	if len(touches) == 0 {
		return nil
	}
	if _, err := x.sink.Touch(ctx, touches); err != nil {
		return fmt.Errorf("renew fetch times in the index files: %w", err)
	}
	return nil
}
