package repository

import (
	"context"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// openDB opens the transaction layer. The set of observers depends on the content of the
// store, so no transaction may write before register has set the registry.
func (r *Repository) openDB(ctx context.Context, opts Options) error {
	var coordination *txn.Coordination
	if r.shared() {
		coordination = r.share.Coordination
	}
	db, err := txn.Open(ctx, r.table, txn.Options{
		Mode:         opts.Commit,
		History:      opts.History,
		Coordination: coordination,
		Observers: func(c txn.Column) []string {
			if r.registry == nil {
				return nil
			}
			return r.registry.Observers(c)
		},
		Leased:   func(observer string) bool { return r.registry != nil && r.registry.Leased(observer) },
		Handover: func(notes []txn.Notification) { r.pipeline.Handover(notes) },
		Written:  r.counted.Written,
	})
	if err != nil {
		return err
	}
	r.db = db
	if n, err := db.ResolveAbandoned(ctx); err != nil {
		return err
	} else if n > 0 {
		opts.Log.Info("resolved the locks of a process that died", zap.Int("locks", n))
	}
	return nil
}

// setFact writes a fact about the whole repository.
func (r *Repository) setFact(ctx context.Context, c txn.Column, value []byte) error {
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(schema.AppRow, c, value)
		return nil
	})
	return err
}
