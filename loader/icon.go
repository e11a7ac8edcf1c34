package loader

import (
	"bytes"
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// The image of an icon is kept in separate columns, which follow the fetch in force. Only
// fetches that are icons, or that replace one, read or write them.

// writeIcon stores the image of a fetch that comes into force, or removes that of the
// previous fetch.
func (p *prepared) writeIcon(ctx context.Context, tx *txn.Txn, now stored) error {
	if p.icon != page.NoIcon {
		p.setIcon(tx)
	}
	if !now.exists() {
		return nil
	}
	before, _, err := schema.DecodeContent(now.content)
	if err != nil {
		return err
	}
	if before.URL = p.fetch.URL; !before.MayBeIcon() {
		return nil
	}
	for use, column := range schema.IconColumns {
		if use == p.icon {
			continue
		}
		old, err := tx.Get(ctx, p.row, column)
		if err != nil {
			return err
		}
		if !old.Exists {
			continue
		}
		tx.Delete(p.row, column)
		if p.icon == page.NoIcon {
			tx.Delete(p.row, schema.IconImage)
		}
	}
	return nil
}

// addIcon stores the image of a fetch that an earlier version loaded without storing it.
func (p *prepared) addIcon(ctx context.Context, tx *txn.Txn, now stored) error {
	if p.icon == page.NoIcon || !now.exists() {
		return nil
	}
	plain, err := now.plain()
	if err != nil || !bytes.Equal(plain, p.plain) {
		return err
	}
	old, err := tx.Get(ctx, p.row, schema.IconColumns[p.icon])
	if err == nil && !old.Exists {
		p.setIcon(tx)
	}
	return err
}

func (p *prepared) setIcon(tx *txn.Txn) {
	tx.Set(p.row, schema.IconColumns[p.icon], p.stamp.Sum[:])
	tx.Set(p.row, schema.IconImage, p.loaded.Body) // the body as fetched, not what was read of it, if it claims to be a document
}
