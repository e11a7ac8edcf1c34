package crawler

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

func TestHeadOf(t *testing.T) {
	long := strings.Repeat("<!-- -->", maxHead/8) + "</head>"
	for _, test := range []struct{ name, kind, body, want string }{
		{"end of head", "text/html; charset=utf-8", "<html><HEAD><title>A < B</title></HeAd><body>", "<html><HEAD><title>A < B</title>"},
		{"body without end of head", "Text/HTML", "<link rel=next><BODY class=x><p>", "<link rel=next>"},
		{"letters whose lower case is longer", "text/html", "<title>İİİİ K</title></head><p>", "<title>İİİİ K</title>"},
		{"neither", "text/html", "<p>text</hea", "<p>text</hea"},
		{"only a beginning is searched", "text/html", long, long[:maxHead]},
		{"empty", "text/html", "", ""},
		{"another type", "text/plain", "<head></head>", ""},
	} {
		f := &page.Fetch{Header: http.Header{"Content-Type": {test.kind}}, Body: []byte(test.body)}
		if got := string(headOf(f)); got != test.want {
			t.Errorf("%s: %.80q, want %.80q", test.name, got, test.want)
		}
	}
}

// What a page names in its head is found unless the page says nofollow, wherever it says so.
func TestDiscoverObeysNoFollow(t *testing.T) {
	const next = `<link rel=next href=/2>`
	for _, test := range []struct {
		name, tag, head string
		found           bool
	}{
		{"nothing", "", next, true},
		{"header", "nofollow", next, false},
		{"header, for another robot", "otherbot: nofollow", next, true},
		{"meta", "", next + `<meta name=robots content="noindex, NoFollow">`, false},
		{"meta, in one word", "", next + `<meta name=robots content=none>`, false},
		{"meta, for another robot", "", next + `<meta name=otherbot content=nofollow>`, true},
		{"one link", "", next + `<link rel="next nofollow" href=/3>`, true},
	} {
		frontier := newFrontier()
		c := newCrawler(Options{}, frontier, newWeb(), nil)
		res := fetch.Result{Fetch: page.Fetch{
			URL: "https://a.example/", Status: 200, Body: []byte("<html><head>" + test.head + "</head>"),
			Header: http.Header{"Content-Type": {"text/html"}, "X-Robots-Tag": {test.tag}},
		}}
		if _, err := c.discover(t.Context(), Job{URL: res.Fetch.URL}, &res, false); err != nil {
			t.Fatal(err)
		}
		if found := frontier.entries["https://a.example/2"] != nil; found != test.found || frontier.entries["https://a.example/3"] != nil {
			t.Errorf("%s: the next page is found: %v, want %v", test.name, found, test.found)
		}
	}
}

// What a page names is in the character set of the page, and so are the escapes of its queries.
func TestDiscoverDecodes(t *testing.T) {
	frontier := newFrontier()
	c := newCrawler(Options{}, frontier, newWeb(), nil)
	res := fetch.Result{Fetch: page.Fetch{
		URL: "https://a.example/", Status: 200, Body: []byte("<meta charset=windows-1251><link rel=next href=/\xe4\xe0>" +
			"<link rel=alternate hreflang=en href=/\xe4\xe0?q=\xe4\xe0>"),
		Header: http.Header{"Content-Type": {"text/html"}},
	}}
	if _, err := c.discover(t.Context(), Job{URL: res.Fetch.URL}, &res, false); err != nil {
		t.Fatal(err)
	}
	if frontier.entries["https://a.example/%D0%B4%D0%B0"] == nil || frontier.entries["https://a.example/%D0%B4%D0%B0?q=%E4%E0"] == nil {
		t.Errorf("found %v", slices.Collect(maps.Keys(frontier.entries)))
	}
}
