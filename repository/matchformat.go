package repository

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// matchFormat makes the store match the setting of a format. Nil keeps the setting of the store,
// which is off in a new store.
//
// The setting is in the store, because it must be the same for all processes that load:
// otherwise a process that does not name it would undo what another one did. Each stored
// fetch of a document says itself whether it is read as a page (page.Fetch.Office and
// Reading). This function changes the fetches, and the document observer does the rest, as
// after any other change of a fetch.
//
//	off → on   Bodies of documents were not kept, so they have to be fetched again. The
//	           frontier forgets their validators: a 304 would bring no body.
//	on → off   The fetches become what they would be without the setting, and their bodies go.
//
// In both directions, loads follow the new setting before matchFormat reads the fetches,
// so it misses none. A crash on the way leaves the setting at "soon", and the next Open
// continues.
func (r *Repository) matchFormat(ctx context.Context, f *schema.Format, want *bool) error {
	var now schema.FormatSetting
	err := r.db.View(ctx, func(tx *txn.Txn) (err error) {
		now, err = f.Read(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	on := now.Holds()
	if want != nil {
		on = *want
	}
	switch {
	case on && now != schema.FormatOn:
		err = r.admitFormat(ctx, f)
	case !on && now != schema.FormatOff:
		err = r.dismissFormat(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("change the setting of %s: %w", f.Name, err)
	}
	return nil
}

// admitFormat turns the setting on.
func (r *Repository) admitFormat(ctx context.Context, f *schema.Format) error {
	if err := r.setFormat(ctx, f, schema.FormatOnSoon); err != nil {
		return err
	}
	again := 0
	err := r.eachOfFormat(ctx, f, func(tx *txn.Txn, row string, _ []byte) error {
		again++
		return forgetValidators(ctx, tx, row)
	})
	if err != nil {
		return err
	}
	if again > 0 {
		r.log.Warn(f.Name+" are indexed from now on; those that were fetched before have to be fetched again", zap.Int("urls", again))
	}
	return r.setFormat(ctx, f, schema.FormatOn)
}

// dismissFormat turns the setting off.
func (r *Repository) dismissFormat(ctx context.Context, f *schema.Format) error {
	if err := r.setFormat(ctx, f, schema.FormatOffSoon); err != nil {
		return err
	}
	gone := 0
	err := r.eachOfFormat(ctx, f, func(tx *txn.Txn, row string, content []byte) error {
		plain, was, err := f.Without(content)
		if err != nil || !was {
			return err
		}
		gone++
		tx.Set(row, schema.FetchContent, plain)
		tx.Delete(row, schema.Body)
		return nil
	})
	if err != nil {
		return err
	}
	if gone > 0 {
		r.log.Warn(f.Name+" are no longer indexed", zap.Int("urls", gone))
	}
	return r.setFormat(ctx, f, schema.FormatOff)
}

func (r *Repository) setFormat(ctx context.Context, f *schema.Format, to schema.FormatSetting) error {
	return r.write(ctx, func(tx *txn.Txn) { f.Write(tx, to) })
}

// eachOfFormat calls fn, in transactions, for the fetches in force that are documents of a
// format.
func (r *Repository) eachOfFormat(ctx context.Context, f *schema.Format, fn func(tx *txn.Txn, row string, content []byte) error) error {
	fetched := func(tx *txn.Txn, found func(row string) error) error {
		return tx.Scan(ctx, schema.GroupFetch, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if c.Name != schema.FetchContent.Name {
					continue
				}
				if fetch, _, err := schema.DecodeContent(c.Data); err != nil {
					return err
				} else if f.Is(&fetch) {
					return found(row)
				}
			}
			return nil
		})
	}
	return r.inChunksNow(ctx, fetched, func(tx *txn.Txn, row string) error {
		v, err := tx.Get(ctx, row, schema.FetchContent)
		if err != nil || !v.Exists {
			return err
		}
		return fn(tx, row, v.Data)
	})
}
