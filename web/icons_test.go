package web_test

import (
	"context"
	"fmt"
	"image/color"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon/icontest"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/browsertest"
)

// fetchedIcon is a fetch of a file that its server calls an icon.
func fetchedIcon(url string, day int, file []byte) page.Fetch {
	f := fetched(url, day, "")
	f.Header, f.Body = http.Header{"Content-Type": {"image/x-icon"}}, file
	return f
}

var (
	amber = color.RGBA{230, 150, 20, 255}
	navy  = color.RGBA{20, 40, 110, 255}
)

// iconWeb is about lamps on six sites; the last one has no icon.
func iconWeb() (fetches []page.Fetch) {
	for i, host := range []string{"amber.example", "navy.example", "tall.example", "http.example", "named.example", "bare.example"} {
		scheme := "https"
		if host == "http.example" {
			scheme = "http"
		}
		text := fmt.Sprintf("<html lang=en><title>Lamps of %s</title><p>%s", host, strings.Repeat(fmt.Sprintf("The lamps of shop number %d burn oil and need no script. ", i), 10))
		fetches = append(fetches, fetched(scheme+"://"+host+"/lamps", 1, text))
	}
	drawn := fetchedIcon("https://static.named.example/img/lamp.png", 1, icontest.PNG(48, color.RGBA{150, 30, 60, 255}))
	drawn.Header.Set("Content-Type", "image/png")
	return append(fetches, drawn, fetched("https://named.example/", 1, "<link rel=icon href=//static.named.example/img/lamp.png><body>A page about nothing"),
		fetchedIcon("https://amber.example/favicon.ico", 1, icontest.ICO(icontest.Bitmap(16, amber))),
		fetchedIcon("https://navy.example/theme/navy-favicon.png?v=2", 1, icontest.PNG(64, navy)),
		fetchedIcon("https://tall.example/apple-touch-icon.png", 1, icontest.JPEG(180, color.RGBA{20, 120, 60, 255})),
		fetchedIcon("https://http.example/favicon.ico", 1, icontest.GIF(32, color.Black)),
	)
}

// iconsOf are the addresses of the icons on a page.
func iconsOf(t *testing.T, body string) (list []string) {
	t.Helper()
	for _, part := range strings.Split(body, `<img class="icon" src="`)[1:] {
		src, rest, _ := strings.Cut(part, `"`)
		if tag, _, _ := strings.Cut(rest, ">"); !strings.Contains(tag, ` alt="" width="20" height="20"`) {
			t.Errorf("an icon with the attributes %s", tag)
		}
		list = append(list, strings.ReplaceAll(src, "&amp;", "&"))
	}
	return list
}

func TestIconsOfResults(t *testing.T) {
	s := newStand(t, iconWeb(), nil)
	body := s.get("/?q=lamps")
	icons := iconsOf(t, body)
	if len(icons) != 5 || strings.Count(body, `<svg class="icon"`) != 1 {
		t.Fatalf("icons %q and %d in place of one", icons, strings.Count(body, `<svg class="icon"`))
	}
	types := map[string]bool{}
	for _, src := range icons {
		a := s.do(src, nil)
		types[a.header.Get("Content-Type")] = true
		for name, want := range map[string]string{
			"Cache-Control": "private, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", src, name, got, want)
			}
		}
		again := s.do(src, func(r *http.Request) { r.Header.Set("If-None-Match", a.header.Get("ETag")) })
		if a.status != http.StatusOK || again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s: %d, asked again %d", src, a.status, again.status)
		}
	}
	for _, want := range []string{"image/x-icon", "image/png", "image/jpeg", "image/gif"} {
		if !types[want] {
			t.Errorf("no icon is sent as %s", want)
		}
	}
	if a := s.do("/icon?url=https://amber.example/lamps&v=0", nil); a.status != http.StatusOK || a.header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("an icon by another version: %d, %s", a.status, a.header.Get("Cache-Control"))
	}
	for target, status := range map[string]int{
		"/icon": 400, "/icon?url=:": 400, "/icon?url=file:///etc/passwd": 400,
		"/icon?url=https://bare.example/": 404, "/icon?url=https://nowhere.example/": 404, "/icon?url=https://amber.example:8080/": 404,
	} {
		if a := s.do(target, nil); a.status != status {
			t.Errorf("%s: %d, want %d", target, a.status, status)
		}
	}
}

// TestNoIcons: without icons, results have nothing in their place.
func TestNoIcons(t *testing.T) {
	s := newStand(t, iconWeb(), nil)
	for name, at := range map[string]*stand{"a site without one": s, "nobody there": s.beside(func(o *web.Options) { o.Inspect = nobody{} })} {
		q := "/?q=lamps"
		if at == s {
			q += "&site=bare.example"
		}
		if body := at.get(q); !strings.Contains(body, "Lamps of bare.example") || strings.Contains(body, `class="icon"`) {
			t.Errorf("%s: a result has an icon", name)
		}
	}
}

// TestChangedIcon: an icon that changes gets another address, and one that is gone goes.
func TestChangedIcon(t *testing.T) {
	s := newStand(t, iconWeb(), nil)
	show := func() []string { // by a server that remembers nothing
		return iconsOf(t, s.beside(nil).get("/?q=lamps&site=amber.example"))
	}
	before := show()
	s.load(fetchedIcon("https://amber.example/favicon.ico", 2, icontest.PNG(16, amber)))
	after := show()
	if len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Errorf("the icon is at %q, then at %q", before, after)
	}
	if a := s.do(before[0], nil); a.header.Get("Content-Type") != "image/png" || strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("the address of the old version gives %v", a.header)
	}
	gone := fetched("https://amber.example/favicon.ico", 3, "")
	gone.Status = http.StatusNotFound
	s.load(gone)
	if left := show(); left != nil {
		t.Errorf("the icon that is gone is at %q", left)
	}
}

// TestHostileIcons: a body that is not a picture is not shown, whatever its type says, and a
// picture is always sent as one.
func TestHostileIcons(t *testing.T) {
	const script = "<!doctype html><script>alert(1)</script>"
	ico := icontest.ICO(icontest.Bitmap(16, amber))
	files := map[string][]byte{
		"page": []byte(script), "drawing": []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>`),
		"huge": icontest.PNG(4000, amber), "moving": icontest.GIF(16, amber, navy), "long": append(slices.Clone(ico), make([]byte, 100<<10)...), "empty": nil,
		"both": append(slices.Clone(ico), script...),
	}
	var fetches []page.Fetch
	for name, file := range files {
		host := "https://" + name + ".example/"
		fetches = append(fetches, fetched(host, 1, "<html lang=en><title>Lamps</title><p>"+strings.Repeat("The lamps of "+name+" are not to be trusted at all. ", 9)), fetchedIcon(host+"favicon.ico", 1, file))
	}
	s := newStand(t, fetches, nil)
	harmless(t, "/?q=lamps", s.do("/?q=lamps", nil))
	for name := range files {
		a := s.do("/icon?url=https://"+name+".example/", nil)
		if name != "both" {
			if a.status != http.StatusNotFound {
				t.Errorf("%s: %d %s", name, a.status, a.header.Get("Content-Type"))
			}
			continue
		}
		if a.header.Get("Content-Type") != "image/x-icon" || a.header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(a.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
			t.Errorf("%s: %v", name, a.header)
		}
	}
	harm := s.beside(func(o *web.Options) { o.Inspect = scriptAsIcon{o.Inspect} })
	if a := harm.do("/icon?url=https://both.example/", nil); a.status != http.StatusInternalServerError || strings.Contains(a.body, "alert") {
		t.Errorf("a script in the place of an icon: %d %s", a.status, a.body)
	}
	elsewhere := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "no-cors")
		r.Header.Set("Sec-Fetch-Dest", "image")
	}
	if a := s.do("/icon?url=https://both.example/", elsewhere); a.status != http.StatusForbidden {
		t.Errorf("a page of another site gets an icon: %d", a.status)
	}
}

// scriptAsIcon has a page where the icon should be.
type scriptAsIcon struct{ web.Inspector }

func (scriptAsIcon) Icon(context.Context, page.URL) ([]byte, error) {
	return []byte("<script>alert(1)</script>"), nil
}

// TestBrowserIcons checks results with icons in a real browser, wide and narrow, light and
// dark.
func TestBrowserIcons(t *testing.T) {
	b := browsertest.Open(t)
	s := newStand(t, iconWeb(), nil)
	var axe *browsertest.Axe
	if browsertest.HasAxe() {
		axe = b.Axe(t)
	}
	b.Visit(s.http.URL + "/?q=lamps")
	b.Run(chromedp.Poll(`[...document.querySelectorAll("img.icon")].every(i => i.complete && i.naturalWidth > 0)`, nil))
	for _, look := range browsertest.Looks {
		b.Look(look)
		label := fmt.Sprintf("icons-%s", look)
		var sizes []string
		b.Eval(`[...document.querySelectorAll(".icon")].map(i => { const r = i.getBoundingClientRect(); return r.width + "x" + r.height })`, &sizes)
		if len(sizes) != 6 || slices.ContainsFunc(sizes, func(size string) bool { return size != "20x20" }) {
			t.Errorf("%s: icons and what stands in their place have the sizes %q", label, sizes)
		}
		b.Fits(label, look)
		b.Picture(label)
		if axe != nil {
			axe.Judge(label)
		}
	}
	b.Quiet(s.http.URL)
}
