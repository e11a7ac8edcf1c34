package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The tests in this file drive a real Chromium. They skip, saying so, where there is
// none; INDEXER_BROWSER names one. With INDEXER_SCREENSHOTS set to a directory they
// leave pictures of each page there.

// browserTime bounds a test: a browser that hangs is no reason to wait for ever.
const (
	browserTime = 5 * time.Minute
	pageTime    = 30 * time.Second
)

// browser is a tab, with what it complained of.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

func findBrowser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time; not with -short")
	}
	if name := os.Getenv("INDEXER_BROWSER"); name != "" {
		return name
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium here; install the package chromium, or name one with INDEXER_BROWSER")
	return ""
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(t)), chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(browserTime))
	if os.Geteuid() == 0 { // its sandbox needs another user
		options = append(options, chromedp.NoSandbox)
	}
	bounded, cancelTime := context.WithTimeout(t.Context(), browserTime)
	alloc, cancelAlloc := chromedp.NewExecAllocator(bounded, options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		cancel()
		cancelAlloc()
		cancelTime()
		if c := chromedp.FromContext(ctx); c != nil && c.Allocator != nil {
			c.Allocator.Wait()
		}
	})
	b := &browser{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	b.run(network.Enable(), runtime.Enable(), log.Enable())
	return b
}

// hear notes what the browser complains of, and what it asks for.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// visit opens a page, and waits until it is there.
func (b *browser) visit(url string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageTime)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Navigate(url), chromedp.WaitReady("body")); err != nil {
		b.t.Fatalf("%s: %v", url, err)
	}
}

// eval is the value of an expression on the page.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, into))
}

// quiet fails the test if the browser complained, or asked another server.
func (b *browser) quiet(server string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser complains: %s", c)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, server+"/") && !strings.HasPrefix(r, "data:") && r != "about:blank" {
			b.t.Errorf("the browser asked for %s", r)
		}
	}
}

// look sets how wide the window is, and which colours are liked.
func (b *browser) look(width, height int64, scheme string) {
	b.t.Helper()
	b.run(
		emulation.SetDeviceMetricsOverride(width, height, 1, width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	)
}

func (b *browser) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("INDEXER_SCREENSHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	b.run(chromedp.CaptureScreenshot(&picture))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// somebody searches, filters, turns the page, opens a document and follows an inlink.
func TestBrowserJourney(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, append(webs(t, "lighthouse", "bakery"), many(60)...), nil)
	var title, at string
	var n int
	b.run(chromedp.Navigate(s.http.URL+"/"), chromedp.WaitVisible("#q"))
	var focused bool
	b.eval(`document.activeElement.id === "q"`, &focused)
	if !focused {
		t.Error("the search field is not ready to be typed in")
	}
	b.run(chromedp.SendKeys("#q", "leaf oak\r"), chromedp.WaitVisible("ol.results"), chromedp.Title(&title))
	if title != "leaf oak – indexer" {
		t.Errorf("title %q", title)
	}
	b.run(chromedp.Click(`a[rel="next"]`), chromedp.WaitVisible(`a[rel="prev"]`))
	b.eval(`document.querySelector("ol.results").start`, &n)
	if n != 11 {
		t.Errorf("the second page begins with result %d", n)
	}
	// Filter, with the keyboard only.
	b.run(chromedp.Focus(".folded > summary"), chromedp.KeyEvent("\r"), chromedp.WaitVisible(`input[name="site"]`),
		chromedp.SendKeys(`input[name="site"]`, "skerryrock.example\r"), chromedp.WaitVisible("section.empty", chromedp.ByQuery))
	b.eval(`document.querySelectorAll("ol.results > li").length`, &n)
	b.run(chromedp.Location(&at))
	if !strings.Contains(at, "site=skerryrock.example") || n != 0 {
		t.Errorf("%s has %d results for leaves", at, n)
	}
	// The key / goes to the field, j and k along the results.
	// As a keyboard does it: a key that the page takes types nothing.
	b.run(chromedp.Poll(`document.readyState === "complete"`, nil), input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), input.DispatchKeyEvent(input.KeyUp).WithKey("/"))
	var field string
	b.eval(`document.activeElement.id + ": " + document.activeElement.value`, &field)
	if field != "top-q: leaf oak" {
		t.Errorf("the key / goes to %q", field)
	}
	b.run(chromedp.SetValue("#top-q", "lighthouse lamp"), chromedp.Focus("#top-q"), chromedp.KeyEvent("\r"), chromedp.WaitVisible("ol.results", chromedp.ByQuery), chromedp.Poll(`document.readyState === "complete"`, nil), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	b.eval(`document.activeElement === document.querySelector("a[data-result]")`, &focused)
	if !focused {
		t.Error("j, j, k do not end at the first result")
	}
	// What is known of it, and the page from which a link comes.
	b.run(chromedp.KeyEvent("d"), chromedp.WaitVisible("article.doc"))
	var inlink, of string
	b.eval(`document.querySelector('section[aria-labelledby="in"] .list a').href`, &inlink)
	b.run(chromedp.Click(`section[aria-labelledby="in"] .list a`), chromedp.WaitVisible("article.doc"), chromedp.Location(&of))
	if of != inlink || inlink == "" {
		t.Errorf("the inlink leads to %s, want %s", of, inlink)
	}
	// The copy, in its frame.
	b.run(chromedp.Click(`.actions a[href^="/view"]`), chromedp.WaitVisible("iframe.copy-frame"))
	b.quiet(s.http.URL)
}

// A hostile page's copy runs nothing and loads nothing, whatever is tried.
func TestBrowserRunsNothingOfACopy(t *testing.T) {
	var leaked atomic.Int64
	leak := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked.Add(1)
		t.Errorf("the copy asked for %s", r.URL)
	}))
	defer leak.Close()
	b := newBrowser(t)
	web := hostileWeb()
	for i := range web {
		web[i].Body = []byte(strings.ReplaceAll(string(web[i].Body), "https://leak.example", leak.URL))
	}
	s := newStand(t, web, nil)
	for _, f := range web[:1] {
		b.run(chromedp.Navigate(s.http.URL+"/view?url="+string(f.URL)), chromedp.WaitVisible("iframe"))
		b.run(chromedp.Navigate(s.http.URL+"/copy?url="+string(f.URL)), chromedp.WaitReady("body"))
		var title, origin string
		var elements int
		b.eval(`document.title`, &title)
		b.eval(`self.origin`, &origin)
		b.eval(`document.querySelectorAll("script, iframe, form, link, base, a[href]").length`, &elements)
		if title != "" || origin != "null" || elements != 0 {
			t.Errorf("%s: title %q, origin %q, %d elements that could do something", f.URL, title, origin, elements)
		}
	}
	for _, target := range []string{"/?q=hostile", doc(hostileURL)} {
		b.visit(s.http.URL + target)
	}
	if n := leaked.Load(); n > 0 {
		t.Errorf("%d requests went out", n)
	}
	// A policy that had something to refuse would have said so.
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		// The styles of the page ask for something; the policy of the copy says no.
		if !strings.Contains(c, "Content Security Policy") {
			t.Errorf("the browser complains: %s", c)
		}
	}
}

// axeScript is axe-core, where it is: INDEXER_AXE names axe.min.js.
func axeScript(t *testing.T) string {
	t.Helper()
	name := os.Getenv("INDEXER_AXE")
	if name == "" {
		t.Skip("INDEXER_AXE does not name axe.min.js (npm pack axe-core)")
	}
	script, err := os.ReadFile(name)
	if err != nil {
		t.Skip("axe-core is not there: ", err)
	}
	return string(script)
}

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// gallery are the pages that are looked at.
func gallery(s *stand) map[string]string {
	return map[string]string{
		"home": "/", "results": "/?q=leaf+oak", "filtered": "/?q=lighthouse&lang=en", "nothing": "/?q=xylophone",
		"document": doc("https://oak.example/"), "cluster": doc("https://www.skerryrock.example/"), "unknown": doc("https://nowhere.example/"),
		"hostile": "/?q=hostile", "copy": "/view?url=https://skerryrock.example/lamp", "help": "/help", "error": "/?q=a&p=0",
	}
}

func galleryStand(t *testing.T) *stand {
	t.Helper()
	fetches := append(webs(t, "lighthouse", "bakery"), many(60)...)
	return newStand(t, append(fetches, hostileWeb()...), nil)
}

// Pages are read by machines that read aloud, on small and large screens, in both
// schemes of colour: axe-core finds nothing serious, and nothing is wider than the
// screen.
func TestBrowserAccessibility(t *testing.T) {
	findBrowser(t)
	axe := axeScript(t)
	b := newBrowser(t)
	s := galleryStand(t)
	b.run(page.SetBypassCSP(true)) // the policy keeps axe-core out as well
	for _, name := range slices.Sorted(maps.Keys(gallery(s))) {
		target := gallery(s)[name]
		for _, size := range []struct {
			width, height int64
			scheme        string
		}{{1280, 900, "light"}, {1280, 900, "dark"}, {390, 844, "light"}, {390, 844, "dark"}} {
			label := fmt.Sprintf("%s-%d-%s", name, size.width, size.scheme)
			b.look(size.width, size.height, size.scheme)
			b.visit(s.http.URL + target)
			var wide int64
			b.eval(`document.documentElement.scrollWidth`, &wide)
			if wide > size.width {
				t.Errorf("%s is %d pixels wide", label, wide)
			}
			var found string
			b.eval(axe+`;0`, nil)
			b.run(chromedp.Evaluate(`axe.run(document, {iframes: false}).then(r => JSON.stringify(r.violations))`, &found,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			var list []violation
			if err := json.Unmarshal([]byte(found), &list); err != nil {
				t.Fatal(err)
			}
			for _, v := range list {
				if v.Impact != "serious" && v.Impact != "critical" {
					t.Logf("%s: %s (%s)", label, v.ID, v.Impact)
					continue
				}
				t.Errorf("%s: %s: %s", label, v.ID, v.Help)
				for _, n := range v.Nodes[:min(len(v.Nodes), 3)] {
					t.Errorf("  %.200s: %s", n.HTML, n.Summary)
				}
			}
		}
	}
}

// TestBrowserScreenshots leaves pictures for people to look at.
func TestBrowserScreenshots(t *testing.T) {
	if os.Getenv("INDEXER_SCREENSHOTS") == "" {
		t.Skip("INDEXER_SCREENSHOTS names no directory for the pictures")
	}
	b := newBrowser(t)
	s := galleryStand(t)
	for _, name := range slices.Sorted(maps.Keys(gallery(s))) {
		target := gallery(s)[name]
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				b.look(width, map[int64]int64{1280: 900, 390: 844}[width], scheme)
				b.visit(s.http.URL + target)
				b.screenshot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
		}
	}
}
