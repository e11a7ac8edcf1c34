package observers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// renderedURLs is how many URLs the browser of random webs asks for. It is smaller than most
// webs, so that pages share what they need.
const renderedURLs = 9

// browser returns what renders the pages of a schedule, nil if it renders none. In nested
// schedules, loads and other runs happen while it is busy.
func (s schedule) newBrowser() *webtest.Browser {
	if s.render == schema.RenderOff {
		return nil
	}
	return &webtest.Browser{URLs: renderedURLs}
}

func (p *player) browser() *webtest.Browser {
	b := p.newBrowser()
	if b != nil && p.nested {
		b.During = func(ctx context.Context) error {
			if p.depth < 3 && p.random.IntN(6) == 0 {
				return p.nest(ctx)
			}
			return nil
		}
	}
	return b
}

// addScripts lets many of the pages, and not always the same ones, look as if scripts made
// their text.
func addScripts(random *rand.Rand, fetches []*page.Fetch) {
	for _, f := range fetches {
		if f.Status == 200 && strings.HasPrefix(string(f.Body), "<html") && random.IntN(3) > 0 {
			f.Body = slices.Concat(f.Body, []byte("<div id=root></div><script src=/app.js></script>"))
		}
	}
}

// TestRandomRenderedWebs is TestRandomWebs while pages are rendered: forms, their inputs, pair
// rows and all that follows from the forms are what the fetches in force give.
func TestRandomRenderedWebs(t *testing.T) {
	for _, s := range []struct {
		name        string
		schedule    schedule
		urls        int
		usual, long int // seeds
	}{
		{"steps, small", schedule{mode: txn.OnePhase, nested: true, render: schema.RenderAuto}, 6, 60, 3000},
		{"steps", schedule{mode: txn.OnePhase, nested: true, render: schema.RenderAuto}, 30, 6, 300},
		{"steps, all pages", schedule{mode: txn.OnePhase, nested: true, render: schema.RenderAll}, 10, 20, 1000},
		{"steps, two-phase", schedule{mode: txn.TwoPhase, render: schema.RenderAuto}, 10, 10, 300},
		{"crashes", schedule{mode: txn.OnePhase, crashes: true, render: schema.RenderAuto}, 10, 15, 400},
		{"crashes, two-phase", schedule{mode: txn.TwoPhase, crashes: true, render: schema.RenderAll}, 8, 10, 300},
		{"1 worker", schedule{mode: txn.OnePhase, workers: 1, render: schema.RenderAuto}, 20, 3, 60},
		{"8 workers", schedule{mode: txn.OnePhase, workers: 8, render: schema.RenderAuto}, 20, 4, 100},
		{"8 workers, two-phase", schedule{mode: txn.TwoPhase, workers: 8, render: schema.RenderAll}, 12, 2, 40},
	} {
		t.Run(s.name, func(t *testing.T) {
			seeds := testenv.Size(1+s.usual/20, s.usual, s.long)
			runSeeds(t, seeds, func(seed uint64) error { return s.schedule.check(t.Context(), seed, s.urls) })
		})
	}
}

// scriptedPage returns a fetch of a page whose text scripts make, from an hour of a day on. Its title is a number.
func scriptedPage(u page.URL, title, hour int) *page.Fetch {
	return &page.Fetch{
		URL: u, Time: time.Date(2024, 1, 1, hour, 0, 0, 0, time.UTC), Status: 200,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: fmt.Appendf(nil, "<html><title>%d</title><div id=root></div><script src=x></script>", title),
	}
}

// renderWith renders a page. It gets at most one resource.
func renderWith(t *testing.T, b *webtest.Browser, f, resource *page.Fetch) *observers.Rendering {
	t.Helper()
	r, err := b.Render(t.Context(), f, func(_ context.Context, u page.URL) (*page.Fetch, error) {
		if resource != nil && resource.URL == u {
			return resource, nil
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openRendering(t *testing.T, b *webtest.Browser) *webtest.Rig {
	t.Helper()
	rig, err := webtest.Open(t.Context(), webtest.Options{Render: schema.RenderAuto, Browser: b})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, rig)
	return rig
}

func loadAndSettle(t *testing.T, rig *webtest.Rig, fetches ...*page.Fetch) {
	t.Helper()
	for _, f := range fetches {
		if _, err := rig.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := rig.Quiesce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// alikePages returns the numbers of two pages that have no document and ask for the same, so that nothing
// but their change has the form compared.
func alikePages(t *testing.T, b *webtest.Browser) (first, second int) {
	t.Helper()
	rendered := func(n int) *observers.Rendering { return renderWith(t, b, scriptedPage(webtest.URL(0), n, 0), nil) }
	for rendered(first).Failure == "" {
		first++
	}
	second = first + 1
	for rendered(second).Failure == "" || !slices.Equal(rendered(first).Requests, rendered(second).Requests) {
		second++
	}
	return first, second
}

// TestPageChangesWhileItIsRendered: a page changes from A to B, and back to A while B is being
// rendered. The form of B must not stay: document, which interprets A again, finds a form of A
// and has no reason to wake render.
func TestPageChangesWhileItIsRendered(t *testing.T) {
	b := &webtest.Browser{URLs: renderedURLs}
	first, second := alikePages(t, b)
	fetches := []*page.Fetch{scriptedPage(webtest.URL(0), first, 0), scriptedPage(webtest.URL(0), second, 1), scriptedPage(webtest.URL(0), first, 2)}
	rig := openRendering(t, b)
	loadAndSettle(t, rig, fetches[0])
	during := 0
	b.During = func(ctx context.Context) error {
		if during++; during > 1 {
			return nil
		}
		if _, err := rig.Load(ctx, fetches[2]); err != nil {
			return err
		}
		return rig.Quiesce(ctx, nil) // all but the run that waits for this
	}
	loadAndSettle(t, rig, fetches[1])
	if during == 0 {
		t.Fatal("B was not rendered")
	}
	b.During = nil
	diff, err := webtest.Differences(t.Context(), rig.DB, rig.Sink.(*webtest.Sink).Documents(), fetches, webtest.Comparison{Browser: b, Sink: rig.Sink})
	if err != nil || len(diff) > 0 {
		t.Errorf("%v: %q", err, diff)
	}
}

// TestPictureChangesAlone: an image changes and the form of the page that shows it stays. The
// index gets the new thumbnail.
func TestPictureChangesAlone(t *testing.T) {
	b := &webtest.Browser{URLs: renderedURLs}
	at := webtest.URL(renderedURLs)
	rendered := func(n int, image *page.Fetch) *observers.Rendering {
		return renderWith(t, b, scriptedPage(at, n, 0), image)
	}
	shows := 0 // a page with a picture and a form, which is its own canonical URL
	for r := rendered(shows, nil); r.Failure != "" || len(r.Thumbnail) == 0 || strings.Contains(string(r.HTML), "canonical"); r = rendered(shows, nil) {
		shows++
	}
	shown := rendered(shows, nil).Requests[0]
	image := func(n, at int) *page.Fetch { return scriptedPage(shown, n, at) }
	first := 0
	for string(rendered(shows, image(first, 0)).Thumbnail) == string(rendered(shows, nil).Thumbnail) {
		first++
	}
	before := rendered(shows, image(first, 0))
	second := first + 1
	after := rendered(shows, image(second, 0))
	for string(after.HTML) != string(before.HTML) || !slices.Equal(after.Requests, before.Requests) || string(after.Thumbnail) == string(before.Thumbnail) {
		second++
		after = rendered(shows, image(second, 0))
	}
	rig := openRendering(t, b)
	for _, step := range []struct {
		load []*page.Fetch
		want *observers.Rendering
	}{
		{[]*page.Fetch{scriptedPage(at, shows, 0), image(first, 0)}, before},
		{[]*page.Fetch{image(second, 1)}, after},
	} {
		loadAndSettle(t, rig, step.load...)
		if got := rig.Sink.(*webtest.Sink).Thumbnails()[at]; string(got) != string(step.want.Thumbnail) {
			t.Errorf("the index has the thumbnail %q, want %q", got, step.want.Thumbnail)
		}
	}
}
