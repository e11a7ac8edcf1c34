package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

const hostileURL = "https://evil.example/"

// hostileWeb holds pages whose author wants to harm the users of an index.
func hostileWeb() []page.Fetch {
	const (
		override = "\u202e" // right to left from here on
		isolate  = "\u2066\u2067\u2068\u2069"
	)
	list := []page.Fetch{
		fetched(hostileURL, 1, `<html lang='en"><script>alert(1)</script>'><title>hostile &lt;script&gt;alert(1)&lt;/script&gt;</title>
			<p>hostile &lt;img src=x onerror=alert(2)&gt; words &quot; onmouseover=&quot;alert(3) 'x' &lt;/p&gt;&lt;script&gt;alert(4)&lt;/script&gt;
			<a href="/named">&lt;b onclick=alert(5)&gt;anchor&lt;/b&gt; hostile</a>
			<a href="javascript:alert(6)">hostile script link</a> <a href="data:text/html,<script>alert(7)</script>">hostile data link</a>
			<a href='https://evil.example/"><script>alert(8)</script>'>hostile address</a>
			<script>document.title="ran"; fetch("https://leak.example/")</script>
			<img src="https://leak.example/pixel.png" onerror="alert(9)"><link rel="stylesheet" href="https://leak.example/x.css">
			<link rel="preconnect" href="https://leak.example"><meta http-equiv="refresh" content="5;url=https://leak.example/">
			<base href="https://leak.example/"><iframe src="https://leak.example/"></iframe><form action="https://leak.example/"><input name=a><button>go</button></form>
			<svg><script>alert(10)</script><a href="javascript:alert(11)"><text>x</text></a></svg>
			<style>@import url(https://leak.example/); body{background:url(https://leak.example/b.png)}</style>
			<p style="background:url(https://leak.example/c.png)" onclick="alert(12)">styled</p>`),
		fetched("https://evil.example/named", 1, `<title>hostile `+override+`gnp.exe`+isolate+" nul\x00byte \x1b[31m"+`</title><p>hostile text`+override+`backwards `+"\x00\x07"+`</p>`),
		fetched("https://evil.example/long", 1, `<title>hostile `+strings.Repeat("very long title ", 700_000)+`</title><p>hostile and long`),
		fetched("https://evil.example/deep", 1, `<title>hostile and deep</title>`+strings.Repeat("<div><b><i>", 20_000)+"hostile depth"),
		fetched("https://evil.example/latin", 1, "<title>hostile \xff\xfe bytes</title><p>hostile \xc3\x28 \xed\xa0\x80 bytes"),
	}
	text := fetched("https://evil.example/plain", 1, "<script>alert(20)</script> hostile plain text")
	text.Header.Set("Content-Type", "text/plain")
	sniff := fetched("https://evil.example/sniffed", 1, "<html><title>hostile sniffed</title><script>alert(21)</script>")
	sniff.Header.Set("Content-Type", "text/html; charset=utf-7")
	return append(list, text, sniff)
}

// harmless reports anything active in a page of ours.
func harmless(t *testing.T, target string, a answer) {
	t.Helper()
	if len(a.body) > 300_000 {
		t.Errorf("%s: a page of %d bytes", target, len(a.body))
	}
	if !utf8.ValidString(a.body) {
		t.Errorf("%s: not UTF-8", target)
	}
	for _, r := range a.body {
		if unicode.Is(unicode.Bidi_Control, r) || r != '\n' && r != '\t' && unicode.IsControl(r) {
			t.Errorf("%s has a %U in it", target, r)
			break
		}
	}
	doc, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && (!strings.HasPrefix(attr(n, "src"), "/assets/") || textOf(n) != "") {
			t.Errorf("%s: a script that is not ours: %q %q", target, attr(n, "src"), textOf(n))
		}
		if n.Data == "style" || n.Data == "base" || n.Data == "object" || n.Data == "embed" {
			t.Errorf("%s: a <%s>", target, n.Data)
		}
		for _, a := range n.Attr {
			switch value := strings.ToLower(strings.TrimSpace(a.Val)); {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcset", a.Key == "formaction":
				t.Errorf("%s: <%s %s=%q>", target, n.Data, a.Key, a.Val)
			case a.Key == "action", a.Key == "src":
				if !strings.HasPrefix(value, "/") {
					t.Errorf("%s: <%s %s=%q>", target, n.Data, a.Key, a.Val)
				}
			case a.Key == "href" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#"):
				if !strings.HasPrefix(value, "https://") && !strings.HasPrefix(value, "http://") || !strings.Contains(attr(n, "rel"), "noreferrer") {
					t.Errorf("%s: <%s %s=%q>", target, n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

func TestHostilePagesAreShownHarmlessly(t *testing.T) {
	s := newStand(t, hostileWeb(), nil)
	targets := []string{"/?q=hostile", "/?q=hostile+script", "/?q=" + url.QueryEscape(`"><script>alert(1)</script>`), "/?q=hostile&site=evil.example",
		"/?q=%E2%80%AE%00hostile", doc(`https://evil.example/"><script>alert(8)</script>`), doc("https://evil.example/?q=\u202e&\x00=<b>")}
	for _, f := range hostileWeb() {
		targets = append(targets, doc(string(f.URL)), "/view?url="+url.QueryEscape(string(f.URL)))
	}
	found := 0
	for _, target := range targets {
		a := s.do(target, nil)
		if a.status != http.StatusOK && a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", target, a.status)
		}
		harmless(t, target, a)
		found += strings.Count(a.body, "hostile")
	}
	if found < 30 {
		t.Errorf("the hostile pages were hardly shown (%d times): the test tries nothing", found)
	}
	if body := s.get("/?q=hostile"); !strings.Contains(body, "hostile &lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the title with a script is not shown as it is")
	}
	if a := s.do("/api/query?q=hostile&limit=100", nil); len(a.body) > 100_000 {
		t.Errorf("an answer of %d bytes for programs", len(a.body))
	}
}

// leaks are signs that a copy could run or load something.
func leaks(t *testing.T, name, source string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil && strings.Contains(err.Error(), "512 nodes") {
		return // deeper than this parser goes, and than browsers do
	}
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("%s: a comment %q", name, n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "iframe", "frame", "object", "embed", "applet", "base", "link", "form", "input", "button", "textarea", "select",
			"svg", "math", "noscript", "template", "video", "audio", "source", "track", "portal", "xmp", "plaintext", "marquee":
			t.Errorf("%s: a <%s> in %q", name, n.Data, source)
		case "meta":
			if attr(n, "http-equiv") != "" {
				t.Errorf("%s: a <meta http-equiv=%q>", name, attr(n, "http-equiv"))
			}
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "href" || a.Key == "srcset" || a.Key == "action" || a.Key == "background" || a.Key == "ping" ||
				a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") || a.Namespace != "" {
				t.Errorf("%s: <%s %s=%q> in %q", name, n.Data, a.Key, a.Val, source)
			}
		}
	}
}

func TestCopiesCanDoNothing(t *testing.T) {
	s := newStand(t, hostileWeb(), nil)
	for _, f := range hostileWeb() {
		for _, form := range []string{"", "&view=text", "&view=source"} {
			target := "/copy?url=" + url.QueryEscape(string(f.URL)) + form
			a := s.do(target, nil)
			if a.status != http.StatusOK {
				t.Errorf("%s: status %d", target, a.status)
				continue
			}
			csp := a.header.Get("Content-Security-Policy")
			if !strings.HasPrefix(csp, "sandbox; default-src 'none';") || strings.Contains(csp, "allow-") || strings.Contains(csp, "script-src") || !strings.Contains(csp, "form-action 'none'") {
				t.Errorf("%s: policy %q", target, csp)
			}
			if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s: %v", target, a.header)
			}
			switch a.header.Get("Content-Type") {
			case "text/plain; charset=utf-8":
			case "text/html; charset=utf-8":
				if form != "" || strings.HasSuffix(string(f.URL), "plain") {
					t.Errorf("%s is HTML", target)
				}
				leaks(t, target, a.body)
			default:
				t.Errorf("%s: type %q", target, a.header.Get("Content-Type"))
			}
		}
	}
	if body := s.get("/copy?url=" + url.QueryEscape(hostileURL)); !strings.Contains(body, "styled") || !strings.Contains(body, "hostile script link") {
		t.Errorf("the words of the page are gone: %s", body)
	}
}
