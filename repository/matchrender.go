package repository

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// matchRender makes the store match the setting of rendering and the browser of this process.
// Without a setting in the options, it keeps that of the store, which is off in a new store.
//
// Like the setting of office documents, this setting is in the store, and holds for all processes.
//
//	off → on   Pages are interpreted again, and those that qualify are rendered. Bodies of
//	           resources were not kept, so resources have to be fetched again. The frontier
//	           forgets their validators: a 304 would bring no body.
//	on → off   Forms, pair rows, screenshots and bodies of resources go, in this order. A page
//	           that loses its form is interpreted again.
//	auto ↔ all Pages are interpreted again, as from off to on.
//
// In every case, the new setting is stored before anything is adapted, and pages that are
// loaded or interpreted from then on follow it. A crash on the way leaves the setting at
// "soon", and the next Open continues; repeating a part changes nothing.
func (r *Repository) matchRender(ctx context.Context, opts Options) error {
	var now schema.RenderSetting
	err := r.db.View(ctx, func(tx *txn.Txn) (err error) {
		now, err = schema.ReadRender(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	want := now.Mode()
	switch opts.Render {
	case "":
	case "off", string(schema.RenderAuto), string(schema.RenderAll):
		want = schema.RenderSetting(opts.Render).Mode()
	default:
		return fmt.Errorf("unknown setting of rendering %q; want off, auto or all", opts.Render)
	}
	if want != now {
		if err = r.setRender(ctx, want.Soon()); err != nil {
			return err
		}
		if want == schema.RenderOff {
			err = r.dismissForms(ctx)
		} else {
			err = r.admitForms(ctx, now.Mode(), want)
		}
		if err == nil {
			err = r.setRender(ctx, want)
		}
	}
	if err == nil && want != schema.RenderOff {
		err = r.matchRenderer(ctx, opts.Renderer)
	}
	if err != nil {
		return fmt.Errorf("change the setting of rendering: %w", err)
	}
	return nil
}

func (r *Repository) setRender(ctx context.Context, to schema.RenderSetting) error {
	return r.write(ctx, to.Write)
}

// admitForms turns rendering on, or changes its mode.
func (r *Repository) admitForms(ctx context.Context, from, to schema.RenderSetting) error {
	again := 0
	err := r.eachCell(ctx, schema.FetchContent, func(tx *txn.Txn, row string) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		f, err := schema.ReadInForce(ctx, tx, u)
		switch {
		case err != nil || f == nil:
			return err
		case f.NeedsBody() && !f.Resource:
			tx.Notify(row, schema.FetchContent)
		case f.IsResource() && !f.Resource:
			again++
			return forgetValidators(ctx, tx, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if again > 0 && from == schema.RenderOff {
		r.log.Warn("pages are rendered from now on; resources that were fetched before have to be fetched again",
			zap.String("render", string(to)), zap.Int("urls", again))
	}
	return nil
}

// dismissForms removes everything that rendering has stored.
func (r *Repository) dismissForms(ctx context.Context) error {
	gone := 0
	err := r.eachCell(ctx, schema.Form, func(tx *txn.Txn, row string) error {
		gone++
		tx.Delete(row, schema.Form)
		tx.Notify(row, schema.FetchContent)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range []txn.Column{schema.Need, schema.Screenshot, schema.Thumbnail, schema.Invalidated} {
		if err := r.eachCell(ctx, c, func(tx *txn.Txn, row string) error {
			tx.Delete(row, c)
			return nil
		}); err != nil {
			return err
		}
	}
	err = r.eachCell(ctx, schema.FetchContent, func(tx *txn.Txn, row string) error {
		v, err := tx.Get(ctx, row, schema.FetchContent)
		if err != nil {
			return err
		}
		plain, was, err := schema.WithoutResource(v.Data)
		if err != nil || !was {
			return err
		}
		tx.Set(row, schema.FetchContent, plain)
		tx.Delete(row, schema.Body)
		return nil
	})
	if err != nil {
		return err
	}
	if gone > 0 {
		r.log.Warn("pages are no longer rendered; they are indexed as they were fetched", zap.Int("pages", gone))
	}
	return r.write(ctx, func(tx *txn.Txn) { tx.Delete(schema.AppRow, schema.RenderVersion) })
}

// matchRenderer wakes render at all forms if the last process that opened the repository had
// another browser, or none, which has the version 0. The forms themselves say whether they
// have to be renewed. The version is written last, so a crash begins again.
func (r *Repository) matchRenderer(ctx context.Context, renderer observers.Renderer) error {
	version := uint64(0)
	if renderer != nil {
		version = renderer.Version()
	}
	now := strconv.FormatUint(version, 10)
	known, err := r.fact(ctx, schema.RenderVersion)
	if err != nil || string(known.Data) == now {
		return err
	}
	if version > 0 {
		err = r.eachCell(ctx, schema.Form, func(tx *txn.Txn, row string) error {
			tx.Notify(row, schema.RenderWake)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return r.setFact(ctx, schema.RenderVersion, []byte(now))
}

// warnUnrendered says how many pages lack a form because there is no browser.
func (r *Repository) warnUnrendered() {
	if n := r.unrendered.Load(); n > 0 {
		r.log.Warn("pages were not rendered because no browser was found; install Chromium, and they are rendered when the data directory is opened again", zap.Int64("pages", n))
	}
}

// eachCell calls fn, in transactions, for the rows that have a column.
func (r *Repository) eachCell(ctx context.Context, c txn.Column, fn func(tx *txn.Txn, row string) error) error {
	stored := func(tx *txn.Txn, found func(row string) error) error {
		return tx.Scan(ctx, c.Group, "", "", func(row string, cols []txn.Version) error {
			if slices.ContainsFunc(cols, func(cell txn.Version) bool { return cell.Name == c.Name }) {
				return found(row)
			}
			return nil
		})
	}
	return r.inChunksNow(ctx, stored, fn)
}

// forgetValidators makes the next visit of a URL bring a body.
func forgetValidators(ctx context.Context, tx *txn.Txn, row string) error {
	v, err := tx.Get(ctx, row, schema.Entry)
	if err != nil || !v.Exists {
		return err
	}
	e, err := schema.DecodeEntry(v.Data)
	if err != nil || e.ETag == "" && e.LastModified == "" {
		return err
	}
	e.ETag, e.LastModified = "", ""
	tx.Set(row, schema.Entry, e.Encode())
	return nil
}
