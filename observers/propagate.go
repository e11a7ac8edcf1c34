package observers

import (
	"context"

	"indexer/schema"
	"indexer/txn"
)

// spreadChunk bounds how many URLs one run wakes.
const spreadChunk = 500

// spread tells the URLs that lead to one whose walk has changed.
//
//	watches  url:walk
//	reads    lead rows of the URL, url:spread
//	writes   url:spread, while it is not done
//	wakes    cluster (weak) of each URL that leads here; itself (weak), to go on
//
// A URL to which 100,000 others lead is done in bounded transactions: url:spread
// says where to go on, and for which walk; when the walk has changed since, it
// begins again.
func spread(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		if _, err := tx.GetRow(ctx, row, schema.GroupURL); err != nil {
			return err
		}
		walk, err := tx.Get(ctx, row, schema.Chain)
		if err != nil {
			return err
		}
		stored, err := tx.Get(ctx, row, schema.Propagated)
		if err != nil {
			return err
		}
		done, err := schema.DecodePropagation(stored.Data)
		if err != nil {
			return err
		}
		start := row + "\x00"
		if done.Chain == walk.TS && done.Next != "" {
			start = done.Next
		}
		next, err := wakeSources(ctx, tx, row, start)
		if err != nil {
			return err
		}
		switch {
		case next != "":
			tx.Set(row, schema.Propagated, schema.StoredPropagation{Chain: walk.TS, Next: next}.Encode())
			tx.Notify(row, schema.Chain)
		case stored.Exists:
			tx.Delete(row, schema.Propagated)
		}
		return nil
	})
}

// wakeSources wakes up to spreadChunk sources from a pair row on, and returns
// the pair row to go on from.
func wakeSources(ctx context.Context, tx *txn.Txn, row, start string) (next string, err error) {
	n := 0
	err = tx.Scan(ctx, schema.GroupPointer, start, txn.PrefixEnd(row+"\x00"), func(pair string, _ []txn.Version) error {
		if n == spreadChunk {
			next = pair
			return txn.ErrStop
		}
		n++
		tx.Notify(schema.PairSource(pair), schema.State)
		return nil
	})
	return next, err
}
