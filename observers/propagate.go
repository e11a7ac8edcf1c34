package observers

import (
	"context"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// propagateChunk bounds how many URLs one run wakes.
const propagateChunk = 500

// propagate is the observer "spread". When the chain of a URL has changed, it wakes the
// URLs that point to it.
//
//	watches  url:walk
//	reads    pointers to the URL (lead:x), url:spread
//	writes   url:spread, while there is more to do
//	wakes    cluster (weak) of each URL that points here; itself (weak), to continue
//
// A URL to which 100,000 others point is handled in bounded transactions: url:spread says
// where to continue, and for which version of the chain. If the chain has changed since, the
// next run starts over.
func propagate(ctx context.Context, tx *txn.Txn, rows []string) error {
	return chainSpread.run(ctx, tx, rows)
}

var chainSpread = spread{
	changed: schema.Chain, cursor: schema.Propagated, again: schema.Chain,
	group: schema.GroupPointer, wake: schema.State, chunk: propagateChunk,
}

// spread wakes the sources of a URL's pair rows when something about the URL has changed, a
// chunk in each transaction.
type spread struct {
	changed txn.Column // what has changed; if it changes again, the next run starts over
	cursor  txn.Column // where the next run continues; absent once all are notified
	again   txn.Column // wakes this observer while there is more to do
	group   string     // the pair rows
	wake    txn.Column // wakes an observer at each source
	chunk   int        // how many sources one run wakes
}

func (s *spread) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		if err := tx.Prefetch(ctx, row, s.changed, s.cursor); err != nil {
			return err
		}
		now, err := tx.Get(ctx, row, s.changed)
		if err != nil {
			return err
		}
		stored, err := tx.Get(ctx, row, s.cursor)
		if err != nil {
			return err
		}
		done, err := schema.DecodePropagation(stored.Data)
		if err != nil {
			return err
		}
		start := row + "\x00"
		if done.Chain == now.TS && done.Next != "" {
			start = done.Next
		}
		next, err := s.wakeFrom(ctx, tx, row, start)
		switch {
		case err != nil:
			return err
		case next != "":
			tx.Set(row, s.cursor, schema.StoredPropagation{Chain: now.TS, Next: next}.Encode())
			tx.Notify(row, s.again)
		case stored.Exists:
			tx.Delete(row, s.cursor)
		}
		return nil
	})
}

// wakeFrom wakes up to a chunk of sources, beginning at a pair row, and returns the pair
// row to continue from, or "" at the end.
func (s *spread) wakeFrom(ctx context.Context, tx *txn.Txn, row, start string) (next string, err error) {
	n := 0
	err = tx.Scan(ctx, s.group, start, txn.PrefixEnd(row+"\x00"), func(pair string, _ []txn.Version) error {
		if n == s.chunk {
			next = pair
			return txn.ErrStop
		}
		n++
		tx.Notify(schema.PairSource(pair), s.wake)
		return nil
	})
	return next, err
}
