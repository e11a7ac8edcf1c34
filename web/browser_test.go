package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web/browsertest"
)

// The tests in this file drive a real Chromium (package browsertest).

// A visitor searches, filters, turns the page, opens a document and follows an inlink.
func TestBrowserJourney(t *testing.T) {
	b := browsertest.Open(t)
	s := newStand(t, append(webs(t, "lighthouse", "bakery"), many(60)...), nil)
	var title, at string
	var n int
	b.Run(chromedp.Navigate(s.http.URL+"/"), chromedp.WaitVisible("#q"))
	var focused bool
	b.Eval(`document.activeElement.id === "q"`, &focused)
	if !focused {
		t.Error("the search field is not ready to be typed in")
	}
	b.Run(chromedp.SendKeys("#q", "leaf oak\r"), chromedp.WaitVisible("ol.results"), chromedp.Title(&title))
	if title != "leaf oak – indexer" {
		t.Errorf("title %q", title)
	}
	b.Run(chromedp.Click(`a[rel="next"]`), chromedp.WaitVisible(`a[rel="prev"]`))
	b.Eval(`document.querySelector("ol.results").start`, &n)
	if n != 11 {
		t.Errorf("the second page begins with result %d", n)
	}
	// Filter with the keyboard only.
	b.Run(chromedp.Focus(".folded > summary"), chromedp.KeyEvent("\r"), chromedp.WaitVisible(`select[name="site"]`),
		chromedp.SendKeys(`select[name="site"]`, "skerryrock"), chromedp.Focus(".filters button"), chromedp.KeyEvent("\r"), chromedp.WaitVisible("section.empty", chromedp.ByQuery))
	b.Eval(`document.querySelectorAll("ol.results > li").length`, &n)
	b.Run(chromedp.Location(&at))
	if !strings.Contains(at, "site=skerryrock.example") || n != 0 {
		t.Errorf("%s has %d results for leaves", at, n)
	}
	// The key / focuses the field, j and k move through the results.
	// As with a real keyboard, a key that the page handles types nothing.
	b.Run(chromedp.Poll(`document.readyState === "complete"`, nil), input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), input.DispatchKeyEvent(input.KeyUp).WithKey("/"))
	var field string
	b.Eval(`document.activeElement.id + ": " + document.activeElement.value`, &field)
	if field != "top-q: leaf oak" {
		t.Errorf("the key / goes to %q", field)
	}
	b.Run(chromedp.SetValue("#top-q", "lighthouse lamp"), chromedp.Focus("#top-q"), chromedp.KeyEvent("\r"), chromedp.WaitVisible("ol.results", chromedp.ByQuery), chromedp.Poll(`document.readyState === "complete"`, nil), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	b.Eval(`document.activeElement === document.querySelector("a[data-result]")`, &focused)
	if !focused {
		t.Error("j, j, k do not end at the first result")
	}
	// The details of a result, and a page that links to it.
	b.Run(chromedp.KeyEvent("d"), chromedp.WaitVisible("article.doc"))
	var inlink, of string
	b.Eval(`document.querySelector('section[aria-labelledby="in"] .list a').href`, &inlink)
	b.Run(chromedp.Click(`section[aria-labelledby="in"] .list a`), chromedp.WaitVisible("article.doc"), chromedp.Location(&of))
	if of != inlink || inlink == "" {
		t.Errorf("the inlink leads to %s, want %s", of, inlink)
	}
	// The copy, in its frame.
	b.Run(chromedp.Click(`.actions a[href^="/view"]`), chromedp.WaitVisible("iframe.copy-frame"))
	b.Quiet(s.http.URL)
}

// Without scripts everything works except keyboard shortcuts: search, paging, filters,
// the lists of a document, copies.
func TestBrowserWithoutScripts(t *testing.T) {
	b := browsertest.Open(t)
	s := newStand(t, append(webs(t, "lighthouse"), many(60)...), nil)
	b.Run(emulation.SetScriptExecutionDisabled(true))
	b.Visit(s.http.URL + "/")
	b.Run(chromedp.SendKeys("#q", "leaf oak\r"), chromedp.WaitVisible("ol.results"),
		chromedp.Click(`a[rel="next"]`), chromedp.WaitVisible(`ol.results[start="11"]`),
		chromedp.Click(".folded > summary"), chromedp.WaitVisible(`select[name="sort"]`),
		chromedp.SetValue(`select[name="sort"]`, "date"), chromedp.Click(".filters button"), chromedp.WaitVisible(`ol.results[start="1"]`))
	b.Visit(s.http.URL + doc("https://oak.example/"))
	b.Run(chromedp.Click(`nav[aria-label="More pages it links to"] a`), chromedp.WaitVisible("article.doc"),
		chromedp.Click(`nav[aria-label="More pages that link here"] a`), chromedp.WaitVisible("article.doc"))
	var at string
	b.Run(chromedp.Location(&at))
	if !strings.Contains(at, "in=2") || !strings.Contains(at, "out=2") {
		t.Errorf("turning both lists leads to %s", at)
	}
	b.Run(chromedp.Click(`.actions a[href^="/view"]`), chromedp.WaitVisible("iframe.copy-frame"), chromedp.Click(`//a[text()="Source"]`, chromedp.BySearch), chromedp.WaitVisible("iframe.copy-frame"))
	b.Quiet(s.http.URL)
}

// The copy of a hostile page runs nothing and loads nothing.
func TestBrowserRunsNothingOfACopy(t *testing.T) {
	var leaked atomic.Int64
	leak := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked.Add(1)
		t.Errorf("the copy asked for %s", r.URL)
	}))
	defer leak.Close()
	b := browsertest.Open(t)
	web := hostileWeb()
	for i := range web {
		web[i].Body = []byte(strings.ReplaceAll(string(web[i].Body), "https://leak.example", leak.URL))
	}
	s := newStand(t, web, nil)
	b.Run(chromedp.Navigate(s.http.URL+"/view?url="+hostileURL), chromedp.WaitVisible("iframe"))
	b.Run(chromedp.Navigate(s.http.URL+"/copy?url="+hostileURL), chromedp.WaitReady("body"))
	var title, origin string
	var elements int
	b.Eval(`document.title`, &title)
	b.Eval(`self.origin`, &origin)
	b.Eval(`document.querySelectorAll("script, iframe, form, link, base, a[href]").length`, &elements)
	if title != "" || origin != "null" || elements != 0 {
		t.Errorf("title %q, origin %q, %d elements that could do something", title, origin, elements)
	}
	for _, target := range []string{"/?q=hostile", doc(hostileURL)} {
		b.Visit(s.http.URL + target)
	}
	if n := leaked.Load(); n > 0 {
		t.Errorf("%d requests went out", n)
	}
	// The console would show any violation of the policy.
	for _, c := range b.Complaints() {
		// The page's styles try to load something, which the policy of the copy refuses.
		if !strings.Contains(c, "Content Security Policy") {
			t.Errorf("the browser complains: %s", c)
		}
	}
}

// gallery lists the pages to look at.
func gallery(s *stand) map[string]string {
	past := ""
	for _, l := range links(s.t, s.get(doc("https://oak.example/"))) {
		if strings.HasPrefix(l, "/doc?at=") {
			past = l
		}
	}
	if past == "" {
		s.t.Fatal("there is no past to look at")
	}
	return map[string]string{
		"past": past,
		"home": "/", "results": "/?q=leaf+oak", "filtered": "/?q=lighthouse&lang=en", "nothing": "/?q=xylophone",
		"document": doc("https://oak.example/"), "cluster": doc("https://www.skerryrock.example/"), "unknown": doc("https://nowhere.example/"),
		"corrected": "/?q=lighthuose+filetype:html", "rtl": "/?q=" + url.QueryEscape("المنارة"),
		"long-copy": "/view?url=" + longAddress, "hostile": "/?q=hostile", "copy": "/view?url=https://skerryrock.example/lamp", "help": "/help", "error": "/?q=a&p=0",
	}
}

// longAddress has no place to break a line.
var longAddress = "https://manara.example/" + strings.Repeat("aReallyLongName", 20)

func galleryStand(t *testing.T) *stand {
	t.Helper()
	fetches := append(webs(t, "lighthouse", "bakery"), many(60)...)
	s := newStand(t, append(fetches, hostileWeb()...), nil)
	s.load(fetched("https://manara.example/", 1, "<html lang=ar dir=rtl><title>المنارة القديمة</title><p>تضيء المنارة البحر كل ليلة، ويزورها الناس في النهار."),
		fetched(longAddress, 1, "<title>Long</title><p>A page whose address is long."))
	s.load(fetched("https://oak.example/", 2, string(fetches[len(fetches)-1].Body)+"<p>It lost a branch in a storm."))
	return s
}

// On small and large screens, in both colour schemes, axe-core finds no accessibility
// violation, and no page is wider than the screen.
func TestBrowserAccessibility(t *testing.T) {
	b := browsertest.Open(t)
	axe := b.Axe(t)
	eachLook(t, b, func(label string, look browsertest.Look) {
		b.Fits(label, look)
		b.Picture(label)
		axe.Judge(label)
	})
}

// TestBrowserScreenshots saves screenshots for people to look at. TestBrowserAccessibility
// does so on its way if axe-core is there.
func TestBrowserScreenshots(t *testing.T) {
	switch {
	case !browsertest.WantsPictures():
		t.Skip("INDEXER_SCREENSHOTS names no directory for the pictures")
	case browsertest.HasAxe():
		t.Skip("TestBrowserAccessibility saves them")
	}
	b := browsertest.Open(t)
	eachLook(t, b, func(label string, _ browsertest.Look) { b.Picture(label) })
}

// eachLook visits the pages of the gallery, and shows each in all looks.
func eachLook(t *testing.T, b *browsertest.Tab, show func(label string, look browsertest.Look)) {
	t.Helper()
	s := galleryStand(t)
	pages := gallery(s)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		b.Visit(s.http.URL + pages[name])
		for _, look := range browsertest.Looks {
			b.Look(look)
			show(fmt.Sprintf("%s-%s", name, look), look)
		}
	}
}

// TestDocumentPicture takes the picture of the search page in the README.
func TestDocumentPicture(t *testing.T) {
	dir := browsertest.DocumentPictures(t)
	b := browsertest.Open(t)
	s := newStand(t, webs(t, "lighthouse", "bakery"), nil)
	b.Look(browsertest.Look{Width: 1000, Height: 720, Scheme: "light"})
	b.Visit(s.http.URL + "/?q=lighthouse+museum")
	b.DocumentPicture(dir, "search")
}

// On a phone, five results fit on the screen, and the links to the other pages on one line.
func TestBrowserPhone(t *testing.T) {
	b := browsertest.Open(t)
	web := append(append(webs(t, "lighthouse", "bakery"), many(60)...), manual()...)
	for i := range 8 { // their titles fill two lines
		web = append(web, fetched(fmt.Sprintf("https://harbour%d.example/handbook/maintenance/buoys-%d.html", i, i), 1, fmt.Sprintf(
			`<html lang="en"><title>Maintenance of the %d. buoy of the outer harbour - Harbour authority handbook</title><main><p>The maintenance of buoy number %d begins in spring, when the ice has gone and the tender can reach it, and ends before the first storms of autumn.`, i, i)))
	}
	s := newStand(t, web, nil)
	for _, target := range []string{"/?q=leaf+oak", "/?q=the+light+keeper", "/?q=lamp+wick", "/?q=buoy+maintenance"} {
		for _, look := range []browsertest.Look{{Width: 1280, Height: 900, Scheme: "light"}, {Width: 390, Height: 844, Scheme: "light"}} {
			b.Look(look)
			b.Visit(s.http.URL + target)
			b.Picture("phone-" + strings.Trim(strings.ReplaceAll(target, "+", "-"), "/?=") + "-" + look.String())
		}
		var shown, all int
		b.Eval(`document.querySelectorAll(".result").length`, &all)
		b.Eval(`Array.from(document.querySelectorAll(".result")).filter(e => e.querySelector(".snippet, h2").getBoundingClientRect().top >= 0 && (e.querySelector(".snippet") || e).getBoundingClientRect().bottom <= innerHeight).length`, &shown)
		if shown < min(5, all) {
			t.Errorf("%s: %d results of %d are on the screen of a phone", target, shown, all)
		}
	}
	b.Look(browsertest.Look{Width: 360, Height: 780, Scheme: "light"})
	b.Visit(s.http.URL + "/?q=leaf+oak&site=oak.example&p=4")
	b.Want("on the fourth page", `document.querySelectorAll(".turn a, .turn strong").length`, "9")
	b.Want("on the fourth page", `new Set(Array.from(document.querySelectorAll(".turn a, .turn strong"), e => e.getBoundingClientRect().top)).size`, "1")
	b.Picture("phone-turn")
}

// On a phone, titles and names of sections are cut, and all sections are on the screen. The
// focus does not move them, and its outline is seen; a single list of facets has the whole
// width, so that its names and numbers are on one line each.
func TestBrowserPhoneFocus(t *testing.T) {
	b := browsertest.Open(t)
	var web []page.Fetch
	for i := range 24 { // from two sites, so that there are facets
		web = append(web, fetched(fmt.Sprintf("https://archive%d.of-the-harbour-authority.example/%d.html", i%2, i), 1, fmt.Sprintf(
			`<html lang="en"><title>Maintenance of the %d. buoy of the outer harbour, with its lamp, its bell and its chain, in spring and in autumn - Harbour authority</title>
			<main><p>Buoy number %d.<h2 id="a">How often the anchors and chains of this one are changed, and by whom</h2><p>In spring.<h2 id="b">Where anchors of other kinds and of other makers are allowed in the harbour</h2><p>Nowhere.<h2 id="c">Anchors of ships</h2><p>Not ours.`, i, i)))
	}
	s := newStand(t, web, nil)
	b.Look(browsertest.Look{Width: 390, Height: 844, Scheme: "light"})
	b.Visit(s.http.URL + "/?q=buoy+anchors")
	for _, selector := range []string{".result h2 a", ".result .sections a"} {
		b.Run(chromedp.Focus(selector, chromedp.ByQuery), chromedp.KeyEvent(kb.Shift)) // a key shows the outline
		var moved float64
		b.Eval(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center"}); `, selector)+`Math.max(...Array.from(document.querySelectorAll(".result h2, .result .where, .result .sections li"), e => Math.max(e.scrollTop, e.scrollLeft)))`, &moved)
		if moved != 0 {
			t.Errorf("%s: the focus moves its text by %g pixels", selector, moved)
		}
		var outline string
		b.Eval(fmt.Sprintf(`getComputedStyle(document.querySelector(%q).parentElement).outlineStyle`, selector), &outline)
		if outline != "solid" {
			t.Errorf("%s: the outline of its box is %s", selector, outline)
		}
	}
	var outside []string
	b.Eval(`Array.from(document.querySelectorAll(".result .sections a")).filter(e => e.parentElement.getBoundingClientRect().right > innerWidth).map(e => e.textContent)`, &outside)
	if len(outside) > 0 {
		t.Errorf("sections beyond the edge of the screen: %q", outside)
	}
	var broken []string
	b.Eval(`Array.from(document.querySelectorAll(".facets a > *")).filter(e => { const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect().height > 30; }).map(e => e.textContent)`, &broken)
	if len(broken) > 0 {
		t.Errorf("names or numbers of facets on several lines: %q", broken)
	}
}
