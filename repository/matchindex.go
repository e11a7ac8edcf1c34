package repository

import (
	"context"
	"errors"
	"fmt"

	"indexer/index"
	"indexer/schema"
	"indexer/txn"
)

// matchIndex makes sure that the index files are the ones this repository wrote.
// New ones (the old ones were deleted) are taken for ours, and every cluster is
// exported to them. Others that hold documents are left alone: ErrOtherIndex. If
// this program analyses text in another way than the one that wrote them, they are
// rebuilt from the texts they hold.
//
// Files become ours (IndexID) before the first document is written to them, since
// the observers start later; so documents in files that are not ours are never
// what a crash left.
//
// Rejected: emptying other files and exporting again. Somebody put them there, or
// deleted the store beside them, and they may be the only copy.
func (r *Repository) matchIndex(ctx context.Context) error {
	tx, err := r.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	known, err := tx.Get(ctx, schema.AppRow, schema.IndexID)
	if err != nil {
		return err
	}
	if string(known.Data) != r.files.ID() {
		return r.adoptIndex(ctx)
	}
	if r.files.NeedsRebuild() {
		return r.files.Rebuild(ctx)
	}
	return nil
}

// adoptIndex takes index files that hold nothing for ours.
func (r *Repository) adoptIndex(ctx context.Context) error {
	n, err := r.countIndexed(ctx)
	if err != nil {
		return fmt.Errorf("look into the index files: %w", err)
	}
	if n > 0 {
		return fmt.Errorf("%w: %s holds %d documents that %s did not write: put back the files that belong together, or delete %s, and all documents are exported to it anew",
			ErrOtherIndex, IndexDir(r.dir), n, StoreDir(r.dir), IndexDir(r.dir))
	}
	return r.exportAll(ctx)
}

func (r *Repository) countIndexed(ctx context.Context) (n int, err error) {
	reader, err := index.OpenReader(IndexDir(r.dir))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return reader.Count(ctx)
}

// exportAll wakes the index observer at every cluster, some at a time, and then
// takes the index files for ours: a crash before that begins again.
func (r *Repository) exportAll(ctx context.Context) error {
	const chunk = 500
	for from := ""; ; {
		next, err := r.wakeClusters(ctx, from, chunk)
		if err != nil {
			return fmt.Errorf("export all clusters to new index files: %w", err)
		}
		if next == "" {
			break
		}
		from = next
	}
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(schema.AppRow, schema.IndexID, []byte(r.files.ID()))
		return nil
	})
	return err
}

// wakeClusters wakes up to n clusters from a member row on, and returns where
// to go on, "" at the end.
func (r *Repository) wakeClusters(ctx context.Context, from string, n int) (next string, err error) {
	_, err = r.db.Run(ctx, func(tx *txn.Txn) error {
		woken, last := 0, ""
		next = ""
		return tx.Scan(ctx, schema.GroupMember, from, "", func(row string, _ []txn.Version) error {
			k, _, err := schema.ParseMemberRow(row)
			if err != nil {
				return err
			}
			cluster := schema.ClusterRow(k)
			if cluster == last {
				return nil
			}
			if woken == n {
				next = row
				return txn.ErrStop
			}
			last = cluster
			woken++
			tx.Notify(cluster, schema.Dirty)
			return nil
		})
	})
	return next, err
}
