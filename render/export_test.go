package render

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Kill kills the running browser.
func (b *Browser) Kill(t *testing.T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := chromedp.FromContext(b.now.ctx).Browser.Process().Kill(); err != nil {
		t.Error(err)
	}
}
