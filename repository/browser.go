package repository

import (
	"context"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/render"
)

// Chromium renders pages for the observers. The owner of the browser closes it, after the
// repository.
type Chromium struct{ *render.Browser }

// Version implements observers.Renderer.
func (Chromium) Version() uint64 { return render.Version }

// Render implements observers.Renderer.
func (c Chromium) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	r, err := c.Browser.Render(ctx, f, lookup)
	if err != nil {
		return nil, err
	}
	return (*observers.Rendering)(r), nil
}
