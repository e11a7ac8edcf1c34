package inspect

import (
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
	// Page says that the page itself had changed since the rendering before, and Changed lists
	// up to 20 resources that had. Both are empty for the first rendering, and for a rendering
	// by another version of the renderer.
	Page    bool       `json:"page_changed,omitempty"`
	Changed []page.URL `json:"changed,omitempty"`
	// Readable says whether the page can be shown as of that time.
	Readable bool `json:"readable"`
}

// Bounds of Rendering.Versions.
const (
	maxRenderings = 20
	maxCauses     = 20
)

// storedRendering is what distinguishes two renderings. The document itself may have megabytes.
type storedRendering struct {
	page   schema.ContentDigest
	inputs []schema.RenderInput
	html   [sha256.Size]byte
}

func decodeRendering(form []byte) (storedRendering, error) {
	f, err := schema.DecodeForm(form)
	return storedRendering{page: f.Page, inputs: f.Inputs, html: sha256.Sum256(append([]byte(f.Failure+"\x00"), f.HTML...))}, err
}

// renderings returns the renderings of a page that are still stored, newest first, at most
// maxRenderings. A form that was written again with the same inputs and the same document is not
// another rendering. Like Versions, it reads records, not a snapshot.
func renderings(ctx context.Context, db *txn.DB, u page.URL) ([]RenderedVersion, error) {
	stored, err := cellVersions(ctx, db, u, schema.Form, decodeRendering)
	if err != nil {
		return nil, fmt.Errorf("renderings of %s: %w", u, err)
	}
	var list []RenderedVersion
	safe, _, err := db.Oldest(ctx)
	if err != nil {
		return nil, fmt.Errorf("renderings of %s: %w", u, err)
	}
	for i, s := range stored {
		if len(list) == maxRenderings {
			break
		}
		var before *storedRendering
		if i+1 < len(stored) {
			before = stored[i+1].value
		}
		if s.value == nil || before != nil && before.sameAs(s.value) {
			continue
		}
		v := RenderedVersion{TS: s.ts, Readable: i == 0 || s.ts >= safe}
		if before != nil {
			v.Page, v.Changed = before.page != s.value.page, causes(before, s.value)
		}
		list = append(list, v)
	}
	return list, nil
}

func (s *storedRendering) sameAs(other *storedRendering) bool {
	return s.page == other.page && s.html == other.html && slices.Equal(s.inputs, other.inputs)
}

// causes returns the URLs that both renderings asked for and whose content differed.
func causes(before, after *storedRendering) (changed []page.URL) {
	for _, i := range before.inputs {
		differs := func(j schema.RenderInput) bool { return j.URL == i.URL && j.Content != i.Content }
		if slices.ContainsFunc(after.inputs, differs) && len(changed) < maxCauses {
			changed = append(changed, i.URL)
		}
	}
	return changed
}
