package repository

import (
	"context"
	"errors"
	"io"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/feed"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// ExportOptions say what to export. With the zero Moment, Export waits for a quiescent
// moment and exports that.
type ExportOptions struct {
	export.Choice
	Threshold float64    // of similar pairs; 0: export.DefaultThreshold
	URLs      []page.URL // the pages of a WACZ
	At        snapshot.Moment
	Tell      func(format string, args ...any) // is called from time to time with the progress; may be nil
}

// Export writes all index documents as JSON, one per line, sorted by URL, as of a
// quiescent moment.
func (r *Repository) Export(ctx context.Context, w io.Writer) (feed.Result, error) {
	return r.ExportAs(ctx, ExportOptions{Choice: export.Choice{Format: export.FormatJSONL, Table: export.Documents}}, w)
}

// ExportAs writes a table in a format; see feed.Write. Errors: those of snapshot.Past, of
// w and of the store.
func (r *Repository) ExportAs(ctx context.Context, opts ExportOptions, w io.Writer) (res feed.Result, err error) {
	var tx *txn.Txn
	if opts.At.IsNow() {
		if opts.Tell != nil {
			opts.Tell("waiting until all work is done")
		}
		var q *Quiet
		if q, err = r.Quiet(ctx); err != nil {
			return feed.Result{}, err
		}
		defer func() { err = errors.Join(err, q.Close()) }()
		tx = q.Tx
	} else {
		if tx, err = snapshot.Past(ctx, r.db, opts.At); err != nil {
			return feed.Result{}, err
		}
		defer tx.Rollback()
	}
	return feed.Write(ctx, r.db, tx, feed.Options{Choice: opts.Choice, Threshold: opts.Threshold, URLs: opts.URLs, Tell: opts.Tell, ClusterOptions: snapshot.ClusterOptions{Scratch: r.dir}}, w)
}
