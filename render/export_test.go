package render

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// SetRealTime changes the limit for pages that are rendered from now on.
func (b *Browser) SetRealTime(d time.Duration) { b.opts.Limits.RealTime = d }

// Kill kills the running browser.
func (b *Browser) Kill(t *testing.T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := chromedp.FromContext(b.now.ctx).Browser.Process().Kill(); err != nil {
		t.Error(err)
	}
}

// Tabs counts the tabs of the running browser.
func (b *Browser) Tabs(t *testing.T) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, err := chromedp.Targets(b.now.ctx)
	if err != nil {
		t.Error(err)
	}
	for _, target := range all {
		if target.Type == "page" {
			n++
		}
	}
	return n
}
