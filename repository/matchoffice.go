package repository

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// matchOffice makes the store match the setting of office documents; nil keeps what the store
// has, which is off in a new one.
//
// The setting is in the store, because it must be the same for all processes that load: a
// process that does not name it would otherwise undo what another one did. Each stored fetch
// of an office document says for itself whether it is read as a page (page.Fetch.Office).
// This function changes the fetches, and the document observer does the rest, as after any
// other change of a fetch.
//
//	off → on   Bodies of office documents were not kept, so they have to be fetched again. The
//	           frontier forgets their validators: a 304 would bring no body.
//	on → off   The fetches become what they would be without the setting, and their bodies go.
//
// In both directions loads go by the new setting before the fetches are read here, so none
// is missed. A crash on the way leaves the setting at "soon", and the next Open goes on.
func (r *Repository) matchOffice(ctx context.Context, want *bool, log *zap.Logger) error {
	tx, err := r.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now, err := schema.ReadOffice(ctx, tx)
	if err != nil {
		return err
	}
	on := now.Holds()
	if want != nil {
		on = *want
	}
	switch {
	case on && now != schema.OfficeOn:
		err = r.admitOffice(ctx, log)
	case !on && now != schema.OfficeOff:
		err = r.dismissOffice(ctx, log)
	}
	if err != nil {
		return fmt.Errorf("change the setting of office documents: %w", err)
	}
	return nil
}

// admitOffice turns the setting on.
func (r *Repository) admitOffice(ctx context.Context, log *zap.Logger) error {
	if err := r.setOffice(ctx, schema.OfficeOnSoon); err != nil {
		return err
	}
	again := 0
	err := r.eachOffice(ctx, func(tx *txn.Txn, row string, _ []byte) error {
		again++
		return forgetValidators(ctx, tx, row)
	})
	if err != nil {
		return err
	}
	if again > 0 {
		log.Warn("office documents are indexed from now on; those that were fetched before have to be fetched again", zap.Int("urls", again))
	}
	return r.setOffice(ctx, schema.OfficeOn)
}

// dismissOffice turns the setting off.
func (r *Repository) dismissOffice(ctx context.Context, log *zap.Logger) error {
	if err := r.setOffice(ctx, schema.OfficeOffSoon); err != nil {
		return err
	}
	gone := 0
	err := r.eachOffice(ctx, func(tx *txn.Txn, row string, content []byte) error {
		plain, was, err := schema.WithoutOffice(content)
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
		log.Warn("office documents are not indexed any more", zap.Int("urls", gone))
	}
	return r.setOffice(ctx, schema.OfficeOff)
}

func (r *Repository) setOffice(ctx context.Context, to schema.OfficeSetting) error {
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		to.Write(tx)
		return nil
	})
	return err
}

// eachOffice calls fn, in transactions, for the fetches in force that are office documents.
func (r *Repository) eachOffice(ctx context.Context, fn func(tx *txn.Txn, row string, content []byte) error) error {
	last, err := r.db.Now(ctx)
	if err != nil {
		return err
	}
	fetched := func(tx *txn.Txn, found func(row string) error) error {
		return tx.Scan(ctx, schema.GroupFetch, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if c.Name != schema.FetchContent.Name {
					continue
				}
				if f, _, err := schema.DecodeContent(c.Data); err != nil {
					return err
				} else if f.IsOffice() {
					return found(row)
				}
			}
			return nil
		})
	}
	return r.inChunks(ctx, last, fetched, func(*txn.Txn) error { return nil }, func(tx *txn.Txn, row string) error {
		v, err := tx.Get(ctx, row, schema.FetchContent)
		if err != nil || !v.Exists {
			return err
		}
		return fn(tx, row, v.Data)
	})
}
