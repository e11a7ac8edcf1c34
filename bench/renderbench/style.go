package renderbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// StyleOptions of RunStyle.
type StyleOptions struct {
	Pages  int           // that need the style sheet
	Others int           // pages that are loaded at a steady rate before and after it changes
	Every  time.Duration // between two of them
	Cost   time.Duration // of a rendering, in place of the browser's
	Repo   repository.Options
	Log    io.Writer
}

// StyleResult says what a changed style sheet costs, and what other pages notice.
type StyleResult struct {
	Pages int `json:"pages"`
	// Before and During are the freshness of other pages: before the style sheet changes, and
	// while its pages are rendered again.
	Before Freshness `json:"before"`
	During Freshness `json:"during"`
	// Again counts the pages that were rendered again, and WithOthers those of them that
	// were rendered while other pages were loaded. Seconds is the time from the change
	// until all were rendered.
	Again      int     `json:"rendered_again"`
	WithOthers int     `json:"rendered_again_with_others"`
	Seconds    float64 `json:"seconds"`
}

// Freshness is the time from the load of a page until it can be searched, in ms.
type Freshness struct {
	N   int64   `json:"n"`
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
}

const (
	styleSite = "https://styled.example/"
	styleURL  = page.URL(styleSite + "style.css")
	otherSite = "https://other.example/"
)

// RunStyle loads pages that all need one style sheet, and changes it. A function takes the
// place of the browser, so that 100,000 pages can be rendered twice.
func RunStyle(ctx context.Context, o StyleOptions) (*StyleResult, error) {
	res, err := measure.InTemp(func(dir string) (*StyleResult, error) { return runStyle(ctx, dir, o) })
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return res, nil
}

func runStyle(ctx context.Context, dir string, o StyleOptions) (_ *StyleResult, err error) {
	browser := &styled{cost: o.Cost}
	opts := o.Repo
	opts.Render, opts.Renderer = "all", browser
	r, err := repository.Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := &styleBench{StyleOptions: o, repo: r, browser: browser, at: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	res := &StyleResult{Pages: o.Pages}
	if err := b.loadStyle(ctx, "body { color: black }"); err != nil {
		return nil, err
	}
	for n := range o.Pages {
		if err := b.loadPage(ctx, styleSite, n); err != nil {
			return nil, err
		}
	}
	if err := r.Quiesce(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "%d pages were rendered\n", browser.styled.Load())
	if res.Before, _, err = b.others(ctx); err != nil {
		return nil, err
	}
	first, changed := browser.styled.Load(), time.Now()
	if err := b.loadStyle(ctx, "body { color: white }"); err != nil {
		return nil, err
	}
	if res.During, res.WithOthers, err = b.others(ctx); err != nil {
		return nil, err
	}
	res.Seconds, res.Again = time.Since(changed).Seconds(), int(browser.styled.Load()-first)
	return res, nil
}

type styleBench struct {
	StyleOptions
	repo    *repository.Repository
	browser *styled
	at      time.Time // of the last fetch
	loaded  int       // other pages
}

func (b *styleBench) load(ctx context.Context, u page.URL, mediaType, body string) error {
	b.at = b.at.Add(time.Second)
	_, err := b.repo.Load(ctx, &page.Fetch{URL: u, Time: b.at, Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: []byte(body)})
	return err
}

func (b *styleBench) loadStyle(ctx context.Context, text string) error {
	return b.load(ctx, styleURL, "text/css", text)
}

func (b *styleBench) loadPage(ctx context.Context, site string, n int) error {
	u := page.URL(fmt.Sprintf("%s%d", site, n))
	return b.load(ctx, u, "text/html", fmt.Sprintf("<title>Page %d</title><p>This is page number %d of %s, and it says nothing else that matters to anybody.", n, n, site))
}

// others loads pages at a steady rate, and waits until all work is done. It returns how soon
// they could be searched, and how many pages were rendered while they were loaded.
func (b *styleBench) others(ctx context.Context) (f Freshness, rendered int, err error) {
	began, first := time.Now(), b.browser.styled.Load()
	tick := time.NewTicker(b.Every)
	defer tick.Stop()
	for range b.Others {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return f, 0, ctx.Err()
		}
		if err := b.loadPage(ctx, otherSite, b.loaded); err != nil {
			return f, 0, err
		}
		b.loaded++
	}
	rendered = int(b.browser.styled.Load() - first)
	if err := b.repo.Quiesce(ctx); err != nil {
		return f, 0, err
	}
	l := b.repo.FoundSince(began)
	return Freshness{N: l.N, P50: measure.Milliseconds(l.P50), P99: measure.Milliseconds(l.P99)}, rendered, nil
}

// styled is a renderer that leaves pages as they are. Those of styleSite ask for the style sheet.
type styled struct {
	cost   time.Duration
	styled atomic.Int64
}

func (*styled) Version() uint64 { return 1 }

func (s *styled) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	select {
	case <-time.After(s.cost):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := &observers.Rendering{HTML: f.Body}
	if strings.HasPrefix(string(f.URL), styleSite) {
		s.styled.Add(1)
		r.Requests = []page.URL{styleURL}
		if _, err := lookup(ctx, styleURL); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Text is the result as people read it.
func (r *StyleResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages need a style sheet that changes; all were rendered again %.1f s later (%d renderings)\n", r.Pages, r.Seconds, r.Again)
	fmt.Fprintf(&b, "other pages, searchable after        n   p50 ms   p99 ms\n")
	fmt.Fprintf(&b, "  before it changes           %8d %8.0f %8.0f\n", r.Before.N, r.Before.P50, r.Before.P99)
	fmt.Fprintf(&b, "  while pages are rendered    %8d %8.0f %8.0f   (%d renderings meanwhile)\n", r.During.N, r.During.P50, r.During.P99, r.WithOthers)
	if r.WithOthers == 0 {
		b.WriteString("nothing was rendered while other pages arrived; give more --others\n")
	}
	return b.String()
}
