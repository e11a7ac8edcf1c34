package snapshot

import (
	"context"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// At returns a transaction that reads at a timestamp of the past. Quiesce does not wait
// for this transaction: otherwise a verify that takes minutes would keep all fetches out.
// The first read pins the state of the table, so At reads at once.
func At(ctx context.Context, db *txn.DB, ts uint64) (*txn.Txn, error) {
	tx := db.At(ts)
	if _, err := tx.Get(ctx, schema.AppRow, schema.IndexID); err != nil {
		tx.Rollback()
		return nil, err
	}
	return tx, nil
}

// Reader reads much at one timestamp with little memory. A transaction remembers
// everything that it has read, so the reader replaces its transaction from time to time.
// The transaction that it was made with pins the timestamp. Scans remember nothing, so
// they use that transaction.
type Reader struct {
	db   *txn.DB
	hold *txn.Txn
	tx   *txn.Txn
	used int // cells read in tx
}

// A transaction reads this many cells. A document counts as several, because some of its
// cells are large.
const (
	cellsPerTxn      = 4096
	cellsPerDocument = 64
)

// NewReader returns a reader at the timestamp of hold, which must stay open until the
// reader is closed.
func NewReader(db *txn.DB, hold *txn.Txn) *Reader { return &Reader{db: db, hold: hold} }

// Document returns a transaction to read the next document with. It is valid until the
// next call of Document or Cell.
func (r *Reader) Document() *txn.Txn { return r.use(cellsPerDocument) }

// Cell returns a transaction to read the next small cell with. It is valid until the next
// call of Document or Cell.
func (r *Reader) Cell() *txn.Txn { return r.use(1) }

func (r *Reader) use(cells int) *txn.Txn {
	if r.tx == nil || r.used >= cellsPerTxn {
		r.Close()
		r.tx, r.used = r.db.At(r.hold.Start()), 0
	}
	r.used += cells
	return r.tx
}

// Close ends the reader's own transaction.
func (r *Reader) Close() {
	if r.tx != nil {
		r.tx.Rollback()
	}
}
