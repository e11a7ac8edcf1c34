package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/browsertest"
)

// screenshotRenderer renders the pages of these tests: their text is what /data.json says, and their
// screenshot has the colour that it says first.
type screenshotRenderer struct{}

func (screenshotRenderer) Version() uint64 { return 1 }

func (screenshotRenderer) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	r := &observers.Rendering{Requests: []page.URL{"https://shop.example/data.json", "https://cdn.example/font.woff2"}, Console: []string{"ReferenceError: counter is not defined"}}
	data, err := lookup(ctx, r.Requests[0])
	if err != nil || data == nil {
		return &observers.Rendering{Requests: r.Requests, HTML: []byte("<p>nothing")}, err
	}
	r.HTML = fmt.Appendf(nil, `<html lang=en><title>The lamp shop</title><a href="/about">about us</a><p>%s`, data.Body)
	var c color.Color = color.RGBA{200, 60, 40, 255}
	if bytes.HasPrefix(data.Body, []byte("blue")) {
		c = color.RGBA{40, 60, 200, 255}
	}
	r.Screenshot, r.Thumbnail = painted(640, 480, c), painted(160, 120, c)
	return r, nil
}

func painted(width, height int, c color.Color) []byte {
	canvas := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			canvas.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, canvas); err != nil {
		panic(err)
	}
	return out.Bytes()
}

const shopURL = "https://shop.example/"

// renderedStand is one of a shop whose text comes from a script, as fetched twice.
func renderedStand(t *testing.T) *stand {
	t.Helper()
	s := newStandOf(t, repository.Options{Workers: 2, History: time.Hour, Render: "auto", Renderer: screenshotRenderer{}}, []page.Fetch{
		fetched("https://plain.example/", 1, "<title>Plain lamps</title><p>"+strings.Repeat("Lamps that need no script to be read about. ", 40)),
	}, nil)
	shell := `<title>Loading</title><div id=root></div><script src=/app.js></script>`
	data := func(second int, text string) page.Fetch {
		f := fetched("https://shop.example/data.json", second, text)
		f.Header = http.Header{"Content-Type": {"application/json"}}
		return f
	}
	s.load(data(1, "red lamps with round wicks, sold at the pier since 1871 to everyone who keeps a light"), fetched(shopURL, 1, shell))
	s.load(data(2, "blue lamps with flat wicks, sold at the pier since 1871 to everyone who keeps a light"), fetched(shopURL, 2, shell+"<!-- again -->"))
	return s
}

func TestRenderedPages(t *testing.T) {
	s := renderedStand(t)
	results := s.get("/?q=lamps")
	if n := strings.Count(results, `class="thumbnail"`); n != 1 {
		t.Errorf("%d thumbnails among the results, want 1", n)
	}
	for _, part := range []string{`src="/screenshot?url=https%3A%2F%2Fshop.example%2F&amp;view=thumbnail"`, `alt="Screenshot of The lamp shop"`, `loading="lazy"`, `width="160" height="120"`} {
		if !strings.Contains(results, part) {
			t.Errorf("the results lack %s", part)
		}
	}
	document := s.get(doc(shopURL))
	for _, part := range []string{
		`<dt>State</dt><dd>rendered</dd>`, `an empty element that scripts fill (#root)`, `Loading`, `https://shop.example/data.json`, `>used<`, `>missing<`,
		`counter is not defined`, `alt="Screenshot of this page"`, `/compare?`,
	} {
		if !strings.Contains(document, part) {
			t.Errorf("the document page lacks %s", part)
		}
	}
	if text := s.get("/copy?view=text&url=" + shopURL); text != "The lamp shop\n\nabout us blue lamps with flat wicks, sold at the pier since 1871 to everyone who keeps a light\n" {
		t.Errorf("the text of the copy is %q", text)
	}
	if body := s.get(doc("https://shop.example/data.json")); !strings.Contains(body, "Pages that need this") {
		t.Error("the page of the resource does not say who needs it")
	} else if strings.Contains(body, "/view?") || strings.Contains(body, "/compare?") {
		t.Errorf("versions of the resource, which has no text to show, lead to copies:\n%s", body)
	}
}

// TestThumbnailsOfFiles: a server that has only index files shows their thumbnails.
func TestThumbnailsOfFiles(t *testing.T) {
	s := renderedStand(t).beside(func(o *web.Options) { o.Inspect = nobodyThere{o.Inspect} })
	if results := s.get("/?q=lamps"); strings.Count(results, `class="thumbnail"`) != 1 {
		t.Error("the result has no thumbnail")
	}
	if a := s.do("/screenshot?view=thumbnail&url="+shopURL, nil); a.status != http.StatusOK || a.header.Get("Content-Type") != "image/png" {
		t.Errorf("the thumbnail: %d %v", a.status, a.header)
	}
	if a := s.do("/screenshot?url="+shopURL, nil); a.status < 500 {
		t.Errorf("the screenshot: %d", a.status)
	}
}

// nobodyThere is an Inspector without pictures.
type nobodyThere struct{ web.Inspector }

func (nobodyThere) Picture(context.Context, page.URL, uint64, bool) ([]byte, error) {
	return nil, web.ErrElsewhere
}

func (nobodyThere) Pictured(context.Context, []page.URL) ([]page.URL, error) {
	return nil, web.ErrElsewhere
}

// TestVisitorLeaves: a visitor who leaves during a search takes no thumbnails from the next one.
func TestVisitorLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	s := renderedStand(t).beside(func(o *web.Options) { o.Search = leaving{o.Search, o.Search.(web.Thumbnails), leave} })
	s.server.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/?q=lamps", nil))
	if results := s.get("/?q=lamps"); strings.Count(results, `class="thumbnail"`) != 1 {
		t.Error("the result has no thumbnail")
	}
}

// leaving is a Searcher whose first visitor leaves before the thumbnails are known.
type leaving struct {
	web.Searcher
	web.Thumbnails
	leave context.CancelFunc
}

func (l leaving) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	l.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.Thumbnails.Pictured(ctx, urls)
}

func TestPicture(t *testing.T) {
	s := renderedStand(t)
	for view, size := range map[string]int{"": 640, "&view=thumbnail": 160} {
		a := s.do("/screenshot?url="+shopURL+view, nil)
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "image/png" || !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %v", view, a.status, a.header)
		}
		config, _, err := image.DecodeConfig(strings.NewReader(a.body))
		if err != nil || config.Width != size {
			t.Errorf("%s: %d pixels wide, %v", view, config.Width, err)
		}
		again := s.do("/screenshot?url="+shopURL+view, func(r *http.Request) { r.Header.Set("If-None-Match", a.header.Get("ETag")) })
		if again.status != http.StatusNotModified {
			t.Errorf("%s: asked again, the answer is %d", view, again.status)
		}
	}
	for target, status := range map[string]int{
		"/screenshot?url=https://plain.example/": 404, "/screenshot?url=https://nowhere.example/": 404, "/screenshot?url=:": 400, "/screenshot": 400,
		"/screenshot?url=" + shopURL + "&view=big": 400, "/screenshot?url=" + shopURL + "&at=x": 400,
		"/compare?url=" + shopURL: 400, "/compare?old=1": 400, "/compare?url=" + shopURL + "&old=x": 400,
	} {
		if a := s.do(target, nil); a.status != status {
			t.Errorf("%s: %d, want %d", target, a.status, status)
		}
	}
}

// TestPictureOfHarm: what is no picture is not sent, whatever a browser called it.
func TestPictureOfHarm(t *testing.T) {
	s := renderedStand(t)
	harm := s.beside(func(o *web.Options) { o.Inspect = scriptAsPicture{o.Inspect} })
	if a := harm.do("/screenshot?url="+shopURL, nil); a.status != http.StatusInternalServerError || strings.Contains(a.body, "alert") {
		t.Errorf("%d: %s", a.status, a.body)
	}
}

// scriptAsPicture has a page where the picture should be.
type scriptAsPicture struct{ web.Inspector }

func (scriptAsPicture) Picture(context.Context, page.URL, uint64, bool) ([]byte, error) {
	return []byte("<script>alert(1)</script>"), nil
}

func compareTarget(s *stand) string {
	for _, l := range links(s.t, s.get(doc(shopURL))) {
		if strings.HasPrefix(l, "/compare?") {
			return l
		}
	}
	s.t.Fatal("there is nothing to compare")
	return ""
}

func TestCompare(t *testing.T) {
	s := renderedStand(t)
	body := s.get(compareTarget(s))
	for _, part := range []string{"<mark>red</mark> lamps", "<mark>blue</mark> lamps", "<mark>round</mark> wicks", "<mark>flat</mark> wicks", `alt="Screenshot of this version"`} {
		if !strings.Contains(body, part) {
			t.Errorf("the comparison lacks %s:\n%s", part, body)
		}
	}
	if n := strings.Count(body, "<img"); n != 2 {
		t.Errorf("%d screenshots, want 2", n)
	}
	var versions []inspect.PageVersion
	versions, err := inspect.Versions(t.Context(), s.repo.DB(), shopURL)
	if err != nil {
		t.Fatal(err)
	}
	newest := fmt.Sprint(versions[0].TS)
	if same := s.get("/compare?url=" + shopURL + "&old=" + newest); !strings.Contains(same, "Before") {
		t.Errorf("a comparison with now: %s", same)
	}
	if none := s.get("/compare?url=https://nowhere.example/&old=" + newest); !strings.Contains(none, "There was no page") {
		t.Errorf("the comparison of a URL that was never fetched: %s", none)
	}
}

// TestCompareRenderings: a resource that changed gives the page another rendering, which is
// compared with the one before, although the page was not fetched again.
func TestCompareRenderings(t *testing.T) {
	s := renderedStand(t)
	data := fetched("https://shop.example/data.json", 3, "green lamps with flat wicks, sold at the pier since 1871 to everyone who keeps a light")
	data.Header = http.Header{"Content-Type": {"application/json"}}
	s.load(data)
	document := s.get(doc(shopURL))
	_, list, _ := strings.Cut(document, "<h3>Renderings")
	if !strings.Contains(list, "data.json</bdi></a> had changed") || !strings.Contains(list, "The oldest one that is stored") {
		t.Fatalf("the page does not say why it was rendered again:\n%s", list)
	}
	target := ""
	for _, l := range links(t, list) {
		if strings.HasPrefix(l, "/compare?") {
			target = l
			break
		}
	}
	body := s.get(target)
	for _, part := range []string{"<mark>blue</mark> lamps", "<mark>green</mark> lamps", `alt="Screenshot of this version"`} {
		if !strings.Contains(body, part) {
			t.Errorf("the comparison lacks %s:\n%s", part, body)
		}
	}
}

// TestBrowserRendered checks the pages of rendered pages in a real browser, with scripts and
// without, at both widths, by the rules of axe-core where it is available.
func TestBrowserRendered(t *testing.T) {
	b := browsertest.Open(t)
	s := renderedStand(t)
	var axe *browsertest.Axe
	if browsertest.HasAxe() {
		axe = b.Axe(t)
	}
	for name, target := range map[string]string{"thumbnails": "/?q=lamps", "rendered": doc(shopURL), "resource": doc("https://shop.example/data.json"), "compare": compareTarget(s)} {
		b.Visit(s.http.URL + target)
		if name != "resource" {
			var loaded bool
			b.Eval(`(() => { const i = document.querySelector("main img"); i.scrollIntoView(); return true })()`, &loaded)
			b.Run(chromedp.Poll(`(() => { const i = document.querySelector("main img"); return i.complete && i.naturalWidth > 0 })()`, nil))
		}
		for _, look := range browsertest.Looks {
			b.Look(look)
			label := fmt.Sprintf("%s-%s", name, look)
			b.Fits(label, look)
			b.Picture(label)
			if axe != nil {
				axe.Judge(label)
			}
		}
	}
	b.Quiet(s.http.URL)
}
