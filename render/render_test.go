package render_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/web/browsertest"
)

// web is a web of files by URL.
type web map[page.URL]file

type file struct{ mediaType, body string }

func (w web) lookup(_ context.Context, u page.URL) (*page.Fetch, error) {
	f, ok := w[u]
	if !ok {
		return nil, nil
	}
	return f.fetch(u), nil
}

// fetch returns the file as a fetch; one without a type is a redirect.
func (f file) fetch(u page.URL) *page.Fetch {
	if f.mediaType == "" {
		return &page.Fetch{URL: u, Status: 302, Header: http.Header{"Location": {f.body}}}
	}
	return &page.Fetch{URL: u, Status: 200, Header: http.Header{"Content-Type": {f.mediaType}}, Body: []byte(f.body)}
}

// open returns a browser that ends with the test.
func open(t *testing.T, l render.Limits) *render.Browser {
	t.Helper()
	b := render.New(render.Options{Path: browsertest.Find(t), Limits: l})
	testenv.CloseAtEnd(t, b)
	return b
}

const home page.URL = "https://site.example/"

// show renders the page at home.
func show(t *testing.T, b *render.Browser, w web) *render.Result {
	t.Helper()
	res, err := b.Render(t.Context(), w[home].fetch(home), w.lookup)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestHidden: names of fields and images hide properties of their form and of the document.
func TestHidden(t *testing.T) {
	const body = `<img name="documentElement"><form><input name="attributes"><input name="childNodes"><input name="nodeType"><input name="localName"><input name="shadowRoot"><p>inside</p></form>`
	res := show(t, open(t, render.Limits{}), web{home: {"text/html", body}})
	if want := "<!DOCTYPE html><html><head></head><body>" + body + "</body></html>"; string(res.HTML) != want {
		t.Errorf("rendered as %s\nwant %s", res.HTML, want)
	}
}

// TestMachine: a page learns nothing of the machine.
func TestMachine(t *testing.T) {
	res := show(t, open(t, render.Limits{}), web{home: {"text/html", `<p id=p><script>
		p.textContent = [navigator.hardwareConcurrency, navigator.deviceMemory, "connection" in navigator, "getBattery" in navigator,
			screen.width, screen.height, screen.availWidth, screen.availHeight, outerWidth, outerHeight].join(" ")</script>`}})
	if want := "4 8 false false 1280 960 1280 960 1280 960"; !strings.Contains(string(res.HTML), ">"+want+"<") {
		t.Errorf("rendered as %s\nwant %s", res.HTML, want)
	}
}

// TestRealTime: nothing of what the browser answers in real time is there, because the page may
// have ended by then.
func TestRealTime(t *testing.T) {
	b := open(t, render.Limits{})
	shows := file{"text/html", `<p id=p><script>
		for (const name of ["indexedDB", "caches", "cookieStore", "AudioContext", "OfflineAudioContext"]) if (name in window) p.append(name);
		for (const name of ["storage", "locks", "credentials"]) if (name in navigator) p.append(name);
		navigator.permissions.query({name: "camera"}).then(s => p.append(s.name + " " + s.state));</script>`}
	for _, u := range []page.URL{home, "http://site.example/"} { // some of it is there for https only
		res, err := b.Render(t.Context(), shows.fetch(u), web{}.lookup)
		if err != nil || !strings.Contains(string(res.HTML), "</script>camera denied</p>") {
			t.Errorf("%s is rendered as %s, %v", u, res.HTML, err)
		}
	}
}

func TestRender(t *testing.T) {
	b := open(t, render.Limits{})
	res := show(t, b, web{
		home:                             {"text/html", `<!DOCTYPE html><title>shell</title><link rel=stylesheet href=style.css><div id=app></div><img src=missing.png><script src=app.js></script>`},
		"https://site.example/style.css": {"text/css", `body { background: url(back.png) }`},
		"https://site.example/app.js":    {"", "/v2.js"},
		"https://site.example/v2.js": {"text/javascript", `
			console.error("careful", 7);
			fetch("data.json").then(r => r.json()).then(d => {
				document.title = d.title;
				document.getElementById("app").innerHTML = "<h1>Hello &amp; welcome</h1><a href=/next>next</a>";
				document.getElementById("app").attachShadow({mode: "open"}).innerHTML = "<p>shade</p><slot></slot>";
			});`},
		"https://site.example/data.json": {"application/json", `{"title": "Filled"}`},
	})
	if res.Failure != "" {
		t.Fatal(res.Failure)
	}
	for _, want := range []string{"<title>Filled</title>", "<p>shade</p>", "<h1>Hello &amp; welcome</h1>", `<a href="/next">`} {
		if !strings.Contains(string(res.HTML), want) {
			t.Errorf("the document lacks %s:\n%s", want, res.HTML)
		}
	}

	var asked []string
	for _, u := range res.Requests {
		asked = append(asked, strings.TrimPrefix(string(u), string(home)))
	}
	slices.Sort(asked) // images do not wait for each other
	if want := []string{"app.js", "back.png", "data.json", "missing.png", "style.css", "v2.js"}; !slices.Equal(asked, want) {
		t.Errorf("the page asked for %q, want %q", asked, want)
	}
	if len(res.Console) != 1 || res.Console[0] != "careful 7" {
		t.Errorf("console: %q", res.Console)
	}
	if len(res.Screenshot) == 0 || len(res.Thumbnail) == 0 || len(res.Thumbnail) >= len(res.Screenshot) {
		t.Errorf("pictures of %d and %d bytes", len(res.Screenshot), len(res.Thumbnail))
	}
}
