package cli

import (
	"errors"
	"sync"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/repository"
)

// findBrowser returns the browser in which pages are rendered, or nil if there is none. It is
// not started before the first page.
func (a *app) findBrowser() (*render.Browser, error) {
	path, err := render.Find(a.cfg.Browser)
	switch {
	case errors.Is(err, render.ErrNoBrowser):
		return nil, nil
	case err != nil:
		return nil, &usageError{reason: err.Error() + "; correct the setting browser"}
	}
	warn := sync.OnceFunc(func() {
		if !render.Sandboxed() {
			a.log.Warn("pages are rendered without the browser's sandbox, which Chromium does not have for root; run indexer as another user", zap.String("browser", path))
		}
	})
	return render.New(render.Options{Path: path, Starting: warn}), nil
}

// rendererOf is the renderer of a browser; nil for none.
func rendererOf(b *render.Browser) observers.Renderer {
	if b == nil {
		return nil
	}
	return repository.Chromium{Browser: b}
}
