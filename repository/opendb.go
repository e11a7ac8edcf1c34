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
		r.log.Info("resolved the locks of a process that died", zap.Int("locks", n))
	}
	return nil
}

// fact reads a fact about the whole repository.
func (r *Repository) fact(ctx context.Context, c txn.Column) (v txn.Value, err error) {
	err = r.db.View(ctx, func(tx *txn.Txn) error {
		v, err = tx.Get(ctx, schema.AppRow, c)
		return err
	})
	return v, err
}

// setFact writes a fact about the whole repository.
func (r *Repository) setFact(ctx context.Context, c txn.Column, value []byte) error {
	return r.write(ctx, func(tx *txn.Txn) { tx.Set(schema.AppRow, c, value) })
}

// write commits a transaction that only writes.
func (r *Repository) write(ctx context.Context, fn func(*txn.Txn)) error {
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		fn(tx)
		return nil
	})
	return err
}
