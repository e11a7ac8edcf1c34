package page

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzInterpret checks what every Document promises, whatever the response.
func FuzzInterpret(f *testing.F) {
	f.Add(200, "text/html", "", "", "", []byte("<title>t</title><a href=x>y</a><link rel=canonical href=z>"))
	f.Add(200, "", "", "noindex", "<a>; rel=canonical", []byte("\xff\xfe<\x00"))
	f.Add(301, "", "../x", "", "", []byte(nil))
	f.Add(200, "text/html;charset=iso-2022-jp", "", "", "", []byte("\x1b$B$3<meta http-equiv=refresh content='0;x'>"))
	f.Add(200, "text/html", "", "", "", []byte(strings.Repeat("<b><p>", 300)+"<a href=/>x"))
	f.Add(200, "text/html", "", "", "", []byte("<table><a href=1><tr><a href=2><td><template><frameset></a><base href=//x>"))
	f.Add(200, "text/html", "", "", "", []byte("<frameset><frame src=a><frameset><frame src=/b></frameset><noframes><a href=c><iframe src=d>"))
	f.Add(200, "text/html", "", "none", "", []byte("<svg><iframe src=a></svg><iframe src='//e' srcdoc><iframe src=javascript:x><iframe src=f>"))
	f.Add(200, "text/html", "", "", "", []byte("<nav><a href=#x>a</a></nav><main><h2 id=x>b<a href=#x>¶</a></h2><dl><dt id=y>c</main><link rel=alternate hreflang=de href=d>"))
	f.Add(200, "text/html", "", "", "", []byte("<h1><nav><main><h2 id=x><a href=#><div class=menu hidden><footer>x</h1><article><a href=#q><a href=#r>"))
	f.Fuzz(func(t *testing.T, status int, mediaType, location, robots, link string, body []byte) {
		fetch := &Fetch{URL: "https://example.com/a/b", Status: status, Body: body, Header: http.Header{
			"Content-Type": {mediaType}, "Location": {location}, "X-Robots-Tag": {robots}, "Link": {link}}}
		d := Interpret(fetch)
		if again := Interpret(fetch); !reflect.DeepEqual(d, again) {
			t.Fatalf("two readings differ:\n%+v\n%+v", d, again)
		}
		checkInterpreter(t, NewInterpreter(1<<20), fetch)
		for name, s := range map[string]string{"title": d.Title, "text": d.Text} {
			if !utf8.ValidString(s) || s != strings.Join(strings.Fields(s), " ") {
				t.Errorf("%s is not valid or not collapsed: %q", name, s)
			}
		}
		if d.Outcome != Page && (d.Title != "" || d.Text != "" || d.Links != nil || d.Key != ContentKey{}) {
			t.Errorf("%s has content: %+v", d.Outcome, d)
		}
		if d.Outcome != Page && d.Outcome != Redirect && d.Target != "" {
			t.Errorf("%s leads to %s", d.Outcome, d.Target)
		}
		if d.Outcome == Page && d.Target == fetch.URL {
			t.Error("a page is its own canonical target")
		}
		checkCanonical(t, d.Target)
		checkOutline(t, &d)
		if len(d.Frames) > MaxFrames || len(d.Frames) > 0 && (d.Outcome != Page || d.NoFollow) {
			t.Errorf("%s with %d frames", d.Outcome, len(d.Frames))
		}
		framed := make(map[URL]bool)
		for _, u := range d.Frames {
			checkCanonical(t, u)
			if framed[u] || u == fetch.URL {
				t.Errorf("bad frame %s", u)
			}
			framed[u] = true
		}
		seen := make(map[Link]bool)
		for _, l := range d.Links {
			checkCanonical(t, l.Target)
			if seen[l] || l.Target == fetch.URL || utf8.RuneCountInString(l.Anchor) > MaxAnchorLength || !utf8.ValidString(l.Anchor) {
				t.Errorf("bad link %+v", l)
			}
			seen[l] = true
		}
	})
}

func checkCanonical(t *testing.T, u URL) {
	if again, err := slowParse(string(u)); u != "" && (err != nil || again != u) {
		t.Errorf("%q is not canonical: %q, %v", u, again, err)
	}
}

// FuzzLinkHeader checks that reading ends, and that a plain link behind whatever
// was quoted properly is found.
func FuzzLinkHeader(f *testing.F) {
	for _, s := range []string{`</a>; rel=x; title="b"`, `<a`, `,;"\`, `<>;=;rel`, `<a>;rel="`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, field string) {
		headerCanonicals(http.Header{"Link": {field}})
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(field)
		h := http.Header{"Link": {`</a>; title="` + quoted + `", </c>; rel="canonical"`}}
		if refs := headerCanonicals(h); len(refs) != 1 || refs[0] != "/c" {
			t.Errorf("%q: %q", h.Get("Link"), refs)
		}
	})
}

func FuzzRefresh(f *testing.F) {
	for _, s := range []string{"0;url=a", "0 ,'a'", ".", "5", "0; url = \"x y\" z", "00.00;u"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		zero, ref, ok := parseRefresh(content)
		if !ok && (zero || ref != "") {
			t.Errorf("%q: not ok, but %v %q", content, zero, ref)
		}
		if !strings.Contains(content, ref) {
			t.Errorf("%q: URL %q is not from it", content, ref)
		}
		if zero, _, _ := parseRefresh("1" + content); zero {
			t.Errorf("%q: a delay of 1 or more is not 0", "1"+content)
		}
	})
}

// FuzzContentType checks that the media type's kind depends on nothing but its
// essence: parameters, case and space round it do not matter.
func FuzzContentType(f *testing.F) {
	f.Add("text/html", "charset=utf-8", []byte("<p>x"))
	f.Add("application/xhtml+xml", "a;b;", []byte("\x00"))
	f.Add("", "text/plain", []byte("x"))
	f.Fuzz(func(t *testing.T, mediaType, parameters string, body []byte) {
		plain := &Fetch{Header: http.Header{"Content-Type": {mediaType}}, Body: body}
		dressed := &Fetch{Header: http.Header{"Content-Type": {" " + mediaType + "\t;" + parameters}}, Body: body}
		if a, b := bodyKind(plain), bodyKind(dressed); a != b {
			t.Errorf("%q is of kind %d, %q of kind %d", mediaType, a, dressed.Header.Get("Content-Type"), b)
		}
		if kind := bodyKind(plain); kind == kindHTML && strings.Contains(mediaType, "/") && !strings.Contains(strings.ToLower(mediaType), "html") {
			t.Errorf("%q is HTML", mediaType)
		}
	})
}

// FuzzNamedIcons checks that icons are few, of the page's own site, and not the page.
func FuzzNamedIcons(f *testing.F) {
	f.Add("text/html", []byte("<base href=//a.example.com><link rel='icon x' sizes='16x16 any' href=y><link rel=icon href=//example.org/z>"))
	f.Add("text/html;charset=utf-16", []byte("<\x00l\x00i\x00n\x00k\x00"))
	f.Add("", []byte("<!doctype html><template><link rel=icon href=a></template></template><link rel=apple-touch-icon href='?'>"))
	f.Fuzz(func(t *testing.T, mediaType string, body []byte) {
		fetch := &Fetch{URL: "https://www.example.com/", Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: body}
		icons := NamedIcons(fetch)
		if len(icons) > MaxNamedIcons {
			t.Errorf("%d icons", len(icons))
		}
		for _, u := range icons {
			if host := u.Host(); u == fetch.URL || host != "example.com" && !strings.HasSuffix(host, ".example.com") {
				t.Errorf("the icon is %s", u)
			}
		}
	})
}
