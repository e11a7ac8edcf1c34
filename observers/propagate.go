package observers

import (
	"context"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// propagateChunk bounds how many URLs one run wakes.
const propagateChunk = 500

// propagate tells the URLs that point to a URL that its chain has changed. It is the
// observer "spread".
//
//	watches  url:walk
//	reads    pointers to the URL (lead:x), url:spread
//	writes   url:spread, while there is more to do
//	wakes    cluster (weak) of each URL that points here; itself (weak), to continue
//
// A URL to which 100,000 others point is dealt with in bounded transactions: url:spread says
// where to continue, and for which version of the chain. If the chain has changed since, the
// next run starts over.
func propagate(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		if err := tx.Prefetch(ctx, row, schema.Chain, schema.Propagated); err != nil {
			return err
		}
		chain, err := tx.Get(ctx, row, schema.Chain)
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
		if done.Chain == chain.TS && done.Next != "" {
			start = done.Next
		}
		next, err := wakeSources(ctx, tx, row, start)
		if err != nil {
			return err
		}
		switch {
		case next != "":
			tx.Set(row, schema.Propagated, schema.StoredPropagation{Chain: chain.TS, Next: next}.Encode())
			tx.Notify(row, schema.Chain)
		case stored.Exists:
			tx.Delete(row, schema.Propagated)
		}
		return nil
	})
}

// wakeSources wakes up to propagateChunk sources of pointers to a URL, from a pair row on,
// and returns the pair row to continue from, "" at the end.
func wakeSources(ctx context.Context, tx *txn.Txn, row, start string) (next string, err error) {
	n := 0
	err = tx.Scan(ctx, schema.GroupPointer, start, txn.PrefixEnd(row+"\x00"), func(pair string, _ []txn.Version) error {
		if n == propagateChunk {
			next = pair
			return txn.ErrStop
		}
		n++
		tx.Notify(schema.PairSource(pair), schema.State)
		return nil
	})
	return next, err
}
