package repository

import (
	"context"
	"fmt"

	"indexer/schema"
	"indexer/txn"
)

// matchIndex makes sure that the index files are the ones this repository wrote.
// If they were deleted or replaced, every cluster is exported again; if this
// program analyses text in another way than the one that wrote them, they are
// rebuilt from the texts they hold.
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
		return r.exportAll(ctx)
	}
	if r.files.NeedsRebuild() {
		return r.files.Rebuild(ctx)
	}
	return nil
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
