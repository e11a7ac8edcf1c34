package inspect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// RenderedVersion is a rendering of a page that is still stored.
type RenderedVersion struct {
	TS uint64 `json:"ts"` // commit timestamp
	// Page reports that the page itself was another one than at the rendering before, and
	// Changed are the resources that were, at most 20. Both are empty for the first rendering,
	// and for one by another version of the renderer.
	Page    bool       `json:"page_changed,omitempty"`
	Changed []page.URL `json:"changed,omitempty"`
	// Readable reports whether the page can be shown as of then.
	Readable bool `json:"readable"`
}

// Bounds of Rendering.Versions.
const (
	maxRenderings = 20
	maxCauses     = 20
)

// storedRendering is what tells two renderings apart. The document itself may have megabytes.
type storedRendering struct {
	ts     uint64
	page   schema.ContentDigest
	inputs []schema.RenderInput
	html   [sha256.Size]byte
	gone   bool // the form was deleted
}

func newStoredRendering(data []byte) (*storedRendering, error) {
	f, err := schema.DecodeForm(data)
	if err != nil {
		return nil, err
	}
	return &storedRendering{page: f.Page, inputs: f.Inputs, html: sha256.Sum256(append([]byte(f.Failure+"\x00"), f.HTML...))}, nil
}

// renderings returns the renderings of a page that are still stored, newest first, at most
// maxRenderings. A form that was written again with the same inputs and the same document is none.
// Like Versions, it reads records, not a snapshot.
func renderings(ctx context.Context, db *txn.DB, u page.URL) ([]RenderedVersion, error) {
	stored, err := readRenderings(ctx, db, schema.URLRow(u))
	if err != nil {
		return nil, fmt.Errorf("renderings of %s: %w", u, err)
	}
	var list []RenderedVersion
	safe := db.SafePoint()
	before := &storedRendering{gone: true}
	for i, s := range stored {
		if !s.gone && (before.gone || !before.sameAs(s)) {
			v := RenderedVersion{TS: s.ts, Readable: i == len(stored)-1 || s.ts >= safe}
			if !before.gone {
				v.Page, v.Changed = before.page != s.page, causes(before, s)
			}
			list = append(list, v)
		}
		before = s
	}
	slices.Reverse(list)
	return list[:min(len(list), maxRenderings)], nil
}

func (s *storedRendering) sameAs(other *storedRendering) bool {
	return s.page == other.page && bytes.Equal(s.html[:], other.html[:]) && slices.Equal(s.inputs, other.inputs)
}

// causes returns the URLs that both renderings asked for, with another content at the later one.
func causes(before, after *storedRendering) (changed []page.URL) {
	for _, i := range before.inputs {
		differs := func(j schema.RenderInput) bool { return j.URL == i.URL && j.Content != i.Content }
		if slices.ContainsFunc(after.inputs, differs) && len(changed) < maxCauses {
			changed = append(changed, i.URL)
		}
	}
	return changed
}

// readRenderings reads the versions of a form, oldest first.
func readRenderings(ctx context.Context, db *txn.DB, row string) ([]*storedRendering, error) {
	var list []*storedRendering
	starts := make(map[*storedRendering]uint64) // of those whose value is a record of its own
	values := make(map[uint64]*storedRendering) // by start timestamp
	err := db.Records(ctx, schema.GroupRender, row, row+"\x00", func(rec txn.Record) (err error) {
		switch {
		case rec.Damage != nil:
			return rec.Damage
		case rec.Cell.Row != row || rec.Cell.Column != schema.Form:
		case rec.Kind == txn.KindData:
			values[rec.Start], err = newStoredRendering(rec.Value)
		case rec.Kind == txn.KindWrite && rec.Inline:
			s := &storedRendering{gone: true}
			if rec.Value != nil {
				if s, err = newStoredRendering(rec.Value); err != nil {
					return err
				}
			}
			s.ts = rec.TS
			list = append(list, s)
		case rec.Kind == txn.KindWrite:
			s := &storedRendering{ts: rec.TS, gone: true}
			starts[s] = rec.Start
			list = append(list, s)
		}
		return err
	})
	for i, s := range list {
		if value := values[starts[s]]; starts[s] > 0 && value != nil {
			value.ts = s.ts
			list[i] = value
		}
	}
	slices.SortFunc(list, func(a, b *storedRendering) int { return cmp.Compare(a.ts, b.ts) })
	return list, err
}
