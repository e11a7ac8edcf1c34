package observers

import (
	"context"
	"sync/atomic"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Unreadable counts documents of types that a setting adds to the index, but whose text cannot be
// read: they are damaged, encrypted or too large.
type Unreadable struct {
	PDF    int64 `json:"pdf"`
	Office int64 `json:"office"`
}

// unreadable counts such documents while observers run.
type unreadable struct{ pdf, office atomic.Int64 }

// note counts the fetch in force of a URL, whose outcome is page.Other, if it is such a document.
// It counts once the transaction has committed.
func (n *unreadable) note(ctx context.Context, tx *txn.Txn, u page.URL) error {
	f, err := schema.ReadInForce(ctx, tx, u)
	if err != nil || f == nil {
		return err
	}
	switch {
	case f.Reading.Exists():
		tx.AfterCommit(func() { n.pdf.Add(1) })
	case f.Office:
		tx.AfterCommit(func() { n.office.Add(1) })
	}
	return nil
}

// Unreadable returns how many documents without a text have been interpreted.
func (t *Tracker) Unreadable() Unreadable {
	return Unreadable{PDF: t.unreadable.pdf.Load(), Office: t.unreadable.office.Load()}
}
