package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Look is a window size and colour scheme.
type Look struct {
	Width, Height int64
	Scheme        string // preferred colour scheme: light or dark
}

// String returns the part of a screenshot's name that identifies the look.
func (l Look) String() string { return fmt.Sprintf("%d-%s", l.Width, l.Scheme) }

// Looks are the looks in which every page is tested: desktop and phone, light and dark.
var Looks = []Look{{1280, 900, "light"}, {1280, 900, "dark"}, {360, 780, "light"}, {360, 780, "dark"}}

// narrowest is the width down to which a page must not need horizontal scrolling (WCAG
// 2.2, success criterion 1.4.10).
const narrowest = 320

// Look sets the window size and the preferred colour scheme.
func (b *Tab) Look(l Look) {
	b.t.Helper()
	b.Run(
		emulation.SetDeviceMetricsOverride(l.Width, l.Height, 1, l.Width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.Scheme}}),
	)
}

// Fits fails the test if the page is wider than the window or than a window of the narrowest
// width, or if a table in a card needs horizontal scrolling.
func (b *Tab) Fits(label string, l Look) {
	b.t.Helper()
	for _, width := range []int64{l.Width, narrowest} {
		b.Look(Look{width, l.Height, l.Scheme})
		var wide int64
		b.Eval(`document.documentElement.scrollWidth`, &wide)
		if wide > width {
			b.t.Errorf("%s: %d pixels wide in a window of %d", label, wide, width)
		}
	}
	b.Look(l)
	var over int64
	b.Eval(`Math.max(0, ...Array.from(document.querySelectorAll(".card .scroll"), e => e.scrollWidth - e.clientWidth))`, &over)
	if over > 0 {
		b.t.Errorf("%s: a table is %d pixels wider than its card", label, over)
	}
}

// WantsPictures reports whether screenshots are wanted.
func WantsPictures() bool { return os.Getenv("INDEXER_SCREENSHOTS") != "" }

// Picture saves a screenshot of the whole page if screenshots are wanted.
func (b *Tab) Picture(name string) {
	b.t.Helper()
	if !WantsPictures() {
		return
	}
	var picture []byte
	b.Run(chromedp.FullScreenshot(&picture, 100))
	b.save(os.Getenv("INDEXER_SCREENSHOTS"), name, picture)
}

// DocumentPictures returns the directory for the pictures in documents, and skips the test
// if none are wanted. make pictures takes them.
func DocumentPictures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("INDEXER_PICTURES")
	if dir == "" {
		t.Skip("INDEXER_PICTURES names no directory for the pictures in documents")
	}
	return dir
}

// DocumentPicture saves what the window shows.
func (b *Tab) DocumentPicture(dir, name string) {
	b.t.Helper()
	var picture []byte
	b.Run(chromedp.CaptureScreenshot(&picture))
	b.save(dir, name, picture)
}

func (b *Tab) save(dir, name string, picture []byte) {
	b.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
