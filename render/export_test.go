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
