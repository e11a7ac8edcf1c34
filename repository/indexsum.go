package repository

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// digests looks up documents of the index files.
type digests interface {
	Digest(ctx context.Context, cluster page.ContentKey) (digest [8]byte, found bool, err error)
}

// agrees reports whether the index has the documents that the store has, apart from those
// that observers are about to export. It compares sums, and the store keeps its sum
// (observers.ReadIndexSum), so it scans nothing as long as the sums are equal.
//
// After a kill in the middle of a load they differ: runs had written to the index files and
// had not committed yet. The clusters of such runs still have notifications. So agrees
// leaves them out on both sides, which takes two reads for each waiting cluster. view opens
// the index for that; if it is nil, they are not left out.
//
// If the sums still differ, either the index has lost something, or the sum in the store is
// not that of index:doc, because an earlier version has opened the directory since. A scan
// shows which, and corrects the sum.
func (r *Repository) agrees(ctx context.Context, tx *txn.Txn, have index.State, view func(use func(digests) error) error) (bool, error) {
	stored, kept, err := observers.ReadIndexSum(ctx, tx)
	if err != nil {
		return false, err
	}
	if kept && sameDocuments(stored, have) {
		return true, nil
	}
	if kept && view != nil {
		var a, b index.State
		err := view(func(d digests) (err error) {
			a, b, err = r.withoutWaiting(ctx, tx, stored, have, d)
			return err
		})
		if err != nil || sameDocuments(a, b) {
			return err == nil, err
		}
	}
	r.log.Info(comparesAll, zap.Bool("sum kept", kept))
	scanned, err := storedState(ctx, tx)
	if err != nil {
		return false, err
	}
	if (!kept || !sameDocuments(stored, scanned)) && !r.shared() {
		_, err := r.db.Run(ctx, func(tx *txn.Txn) error { return observers.SetIndexSum(ctx, tx, scanned) })
		if err != nil {
			return false, fmt.Errorf("correct the sum of index documents: %w", err)
		}
	}
	return sameDocuments(scanned, have), nil
}

// comparesAll is logged when opening needs a scan.
const comparesAll = "the index is compared with all documents of the store"

func sameDocuments(a, b index.State) bool { return a.Sum == b.Sum && a.Documents == b.Documents }

// withoutWaiting subtracts the documents of clusters that wait for an export from both sums.
func (r *Repository) withoutWaiting(ctx context.Context, tx *txn.Txn, stored, have index.State, files digests) (index.State, index.State, error) {
	err := r.eachWaiting(ctx, func(key page.ContentKey) error {
		v, err := tx.GetOnce(ctx, schema.ClusterRow(key), schema.Indexed)
		if err != nil {
			return err
		}
		if v.Exists {
			d, err := schema.DecodeIndexed(v.Data)
			if err != nil {
				return err
			}
			leaveOut(&stored, key, d.Sum)
		}
		digest, found, err := files.Digest(ctx, key)
		if found {
			leaveOut(&have, key, digest)
		}
		return err
	})
	return stored, have, err
}

func leaveOut(s *index.State, key page.ContentKey, digest [8]byte) {
	var one index.Sum
	one.Add(key, digest)
	s.Sum -= one
	s.Documents--
}

// eachWaiting calls fn once with each cluster on which index or count is going to run.
func (r *Repository) eachWaiting(ctx context.Context, fn func(page.ContentKey) error) error {
	seen := make(map[string]bool)
	return r.db.EachNotification(ctx, func(notes []txn.Notification) error {
		for _, n := range notes {
			if c := n.Cell.Column; c != schema.Dirty && c != schema.Count || seen[n.Cell.Row] {
				continue
			}
			seen[n.Cell.Row] = true
			key, err := schema.ParseClusterRow(n.Cell.Row)
			if err != nil {
				return err
			}
			if err := fn(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// ownFiles opens the index files for agrees, before other code may rely on them.
func (r *Repository) ownFiles(ctx context.Context) func(use func(digests) error) error {
	return func(use func(digests) error) error {
		return uncheckedView(ctx, r.files.dir, func(v *index.View) error { return use(v) })
	}
}

// uncheckedView calls use with the newest state of index files, even if they are behind.
func uncheckedView(ctx context.Context, dir string, use func(*index.View) error) (err error) {
	reader, err := index.OpenUnchecked(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	view, err := reader.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	return use(view)
}
