package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/browsertest"
)

// embedding is a site on another port whose front page has the search box, under the
// strictest policy with which the box works.
type embedding struct {
	http  *httptest.Server
	stand *stand
}

func newEmbedding(t *testing.T, named bool) *embedding {
	t.Helper()
	e := new(embedding)
	e.http = httptest.NewServer(http.HandlerFunc(e.answer))
	t.Cleanup(e.http.Close)
	const guide = `<html lang="en"><title>Guide to <b>lamps & wicks</title><main><p>How the keeper trims the wick of the lamp each evening, so that it burns all night.
<h2 id="glass">Cleaning the glass</h2><p>With vinegar.`
	fetches := []page.Fetch{
		fetched(e.http.URL+"/guide", 1, guide),
		fetched(e.http.URL+"/oil", 1, `<html lang="en"><title>Oil</title><main><p>The oil for the lamp is stored in the cellar, far away from any fire.`),
		fetched(e.http.URL+"/wide", 1, `<html lang="en"><title>x`+strings.Repeat("🚢", 300)+`</title><main><p>The ships that pass at night, each with a light at its bow.`),
		fetched(e.http.URL+"/piled", 1, `<html lang="en"><title>Be`+strings.Repeat("\u0310", 40)+`ll</title><main><p>The bells that ring in the fog, each with a sound of its own.`),
		fetched("https://other.example/", 1, `<html lang="en"><title>Another lamp</title><main><p>A lamp on another site, which is not meant to be found here.`),
	}
	e.stand = newStand(t, fetches, func(o *web.Options) {
		if named {
			o.Origins = []string{e.http.URL}
		} else {
			o.Origins = []string{docsOrigin}
		}
	})
	return e
}

func (e *embedding) answer(w http.ResponseWriter, r *http.Request) {
	server := e.stand.http.URL
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %s; connect-src %s; require-trusted-types-for 'script'; trusted-types 'none'", server, server))
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Lamps</title><main><h1>Lamps</h1><script type="module" src="%s/embed.js"></script>
<indexer-search site="%s" placeholder="Search the manual"><a href="%s/">Search</a></indexer-search></main>`, server, strings.TrimPrefix(e.http.URL, "http://"), server)
	case "/guide":
		_, _ = fmt.Fprint(w, `<!doctype html><title>The guide</title><p id="here">Here it is.`)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// box is JavaScript that finds an element in the box.
func box(selector string) string {
	return fmt.Sprintf(`document.querySelector("indexer-search").shadowRoot.querySelector(%q)`, selector)
}

// enter enters words into the box of a page that was just opened. All of them come in one
// event: after each key the box would show what it finds for the word so far, if the machine
// is slow enough.
func (e *embedding) enter(b *browsertest.Tab, words string) {
	b.Visit(e.http.URL + "/")
	b.Until(`customElements.get("indexer-search") !== undefined`)
	b.Eval(`document.querySelector("indexer-search").focus()`, nil)
	b.Run(input.InsertText(words))
}

// A reader of another site searches in its box with the keyboard.
func TestBrowserEmbedded(t *testing.T) {
	b := browsertest.Open(t)
	e := newEmbedding(t, true)
	e.enter(b, "lamp")
	b.Until(box(".popup:not([hidden]) [role=option]") + ` !== null`)
	b.Want("found", `Array.from(`+box("[role=listbox]")+`.querySelectorAll(".title, .all"), e => e.textContent).sort().join(", ")`, "All results, Guide to <b>lamps & wicks, Oil")
	b.Want("found", box("input")+`.placeholder`, "Search the manual")
	b.Want("found", box("input")+`.getAttribute("aria-expanded")`, "true")
	b.Want("found", box("[role=status]")+`.textContent`, "2 results")
	const chosen = "[aria-selected=true]"
	b.Run(chromedp.KeyEvent(kb.ArrowUp))
	b.Want("up from the field", box(chosen)+`.textContent`, "All results")
	b.Run(chromedp.KeyEvent(kb.ArrowDown))
	b.Want("down from the last", box("input")+`.getAttribute("aria-activedescendant")`, "option-0")
	b.Run(chromedp.KeyEvent(kb.Escape))
	b.Want("escape", box(".popup")+`.hidden`, "true")
	b.Want("escape", box("input")+`.value`, "lamp")
	b.Want("escape", box(chosen), "null")
	b.Run(chromedp.KeyEvent(kb.Escape))
	b.Want("escape again", box("input")+`.value`, "")

	b.Run(input.InsertText("trims wick"))
	b.Until(box("[role=option] .title") + `?.textContent.startsWith("Guide")`)
	b.Run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#here"))
	b.Want("enter", `location.href`, e.http.URL+"/guide")

	e.enter(b, "guide glass")
	b.Until(box("[role=option] .section") + `?.textContent === "Cleaning the glass"`)
	b.Want("a section that answers", box("[role=option]")+`.href`, e.http.URL+"/guide#glass")

	e.enter(b, "la") // no page has this word, and a title begins with it
	b.Until(box(".popup:not([hidden]) .words") + ` !== null`)
	b.Want("the beginning of a word", box("[part=message]")+`.hidden`, "true")

	e.enter(b, "ships")
	b.Until(fmt.Sprintf(`%s?.textContent === %q`, box("[role=option] .title"), "x"+strings.Repeat("🚢", 199)+"…")) // not half a ship

	e.enter(b, "bells")
	b.Until(fmt.Sprintf(`%s?.textContent === %q`, box("[role=option] .title"), "Be"+strings.Repeat("\u0310", 4)+"ll"))

	e.enter(b, "oil")
	b.Run(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("ol.results"))
	b.Want("enter without a choice", `location.href.split("&")[0]`, e.stand.http.URL+"/?q=oil")
	for _, c := range b.Complaints() {
		t.Errorf("the browser complains: %s", c)
	}
}

// The browser keeps the answer from a page whose origin is not named: the script does not
// even load, and what stands in the element stays visible.
func TestBrowserEmbeddedElsewhere(t *testing.T) {
	b := browsertest.Open(t)
	e := newEmbedding(t, false)
	b.Visit(e.http.URL + "/")
	b.Until(`document.readyState === "complete"`)
	var visible bool
	b.Eval(`document.querySelector("indexer-search a").checkVisibility() && document.querySelector("indexer-search").shadowRoot === null`, &visible)
	if !visible {
		t.Error("the box is there, or what stands in for it is not")
	}
	if len(b.Complaints()) == 0 {
		t.Error("the browser does not complain about the script")
	}
}

// The open box has no accessibility violation, fits on a phone, and is dark where the page is.
func TestBrowserEmbeddedLooks(t *testing.T) {
	b := browsertest.Open(t)
	e := newEmbedding(t, true)
	var axe *browsertest.Axe
	if browsertest.HasAxe() {
		axe = b.Axe(t)
	}
	e.enter(b, "lamp")
	b.Until(box(".popup:not([hidden]) [role=option]") + ` !== null`)
	b.Run(chromedp.KeyEvent(kb.ArrowDown))
	for _, look := range browsertest.Looks {
		b.Look(look)
		label := "embedded-" + look.String()
		b.Fits(label, look)
		b.Picture(label)
		if axe != nil {
			axe.Judge(label)
		}
		var paper string
		b.Eval(`getComputedStyle(`+box("input")+`).backgroundColor`, &paper)
		if want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(27, 31, 35)"}[look.Scheme]; paper != want {
			t.Errorf("%s: the field is %s, want %s", label, paper, want)
		}
	}
	b.Look(browsertest.Looks[0])
	for theme, want := range map[string]string{"dark": "rgb(27, 31, 35)", "light": "rgb(255, 255, 255)"} {
		var paper string
		b.Eval(fmt.Sprintf(`(document.querySelector("indexer-search").setAttribute("theme", %q), getComputedStyle(%s).backgroundColor)`, theme, box("input")), &paper)
		if paper != want {
			t.Errorf("theme %s: the field is %s, want %s", theme, paper, want)
		}
	}
}
