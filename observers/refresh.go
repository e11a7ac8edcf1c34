package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// refresher brings renewed fetch times to the index files.
//
//	watches  fetch:refreshed (weak only), at URL rows
//	reads    url:state; fetch:time and fetch:seen of pages; index:doc of the cluster, for
//	         update, of pages that the index files do not show
//	writes   the index files
//
// A page that a later fetch found unchanged must not be exported again: that would read
// and write its whole document. The loader sends a weak notification instead, and many
// pages get their new time in one small write. The acknowledgement commits after the index
// files have the times, so a crash in between only repeats the write.
//
// # Why the files end up with the newest time
//
// Let u be a URL that was renewed at R, and consider a run for u with its snapshot at S,
// so R < S. The files never set the time of a document back while the document keeps its
// URL (index.Writer), so neither a repeated run nor an export computed from an older
// snapshot undoes what the run has written.
//
// If u is not a page at S, it has no document. If it becomes one, or gets another content key,
// the observer document wakes the cluster of the new key later, and the export that follows
// begins after R. So let u be a page in the cluster c of its content key, the only cluster
// that shows it.
//
// The files have a document of c with the URL u. It gets the time of S. If it later moves
// to another URL and back, the export that brings it back began after the export that took
// it away had ended, so it begins after S and also has the time.
//
// The files have no document of u. Perhaps c has another canonical URL. Or an export of c
// that began before R is about to write u with an older time. Such an export writes
// index:doc of c, which the run reads for update. If the export commits before S, the files
// already have the document. If it commits between S and the commit of the run, the run has
// a conflict and is repeated. Otherwise the export has the conflict and is repeated, from a
// snapshot after the commit of the run.
type refresher struct{ sink Sink }

func (x *refresher) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	touches := make([]index.Touch, 0, len(rows))
	for _, row := range rows {
		state, _, err := readState(ctx, tx, row)
		if err != nil {
			return err
		}
		if state.Outcome != page.Page {
			continue
		}
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		at, err := FetchedAt(ctx, tx, u)
		if err != nil {
			return fmt.Errorf("fetch time of %s: %w", u, err)
		}
		touches = append(touches, index.Touch{Cluster: state.Key, URL: u, FetchedAt: at})
	}
	if len(touches) == 0 {
		return nil
	}
	missing, err := x.sink.Touch(ctx, touches)
	if err != nil {
		return fmt.Errorf("renew fetch times in the index files: %w", err)
	}
	for _, m := range missing {
		if _, err := tx.GetForUpdate(ctx, schema.ClusterRow(m.Cluster), schema.Indexed); err != nil {
			return err
		}
	}
	return nil
}
