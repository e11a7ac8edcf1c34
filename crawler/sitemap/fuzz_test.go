package sitemap

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

// FuzzParse checks what every reading promises, whatever the file.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"<urlset><url><loc>https://example.com/a?x=1&amp;y=2</loc><lastmod>2024-03-01</lastmod></url></urlset>",
		"<sitemapindex><sitemap>https://example.com/s.xml</sitemap></sitemapindex>",
		"<rss><channel><item><link>/a</link><guid>https://example.com/b</guid><pubDate>1 Jan 24 10:00 EST</pubDate></item>",
		"<feed xml:base='/x/'><entry><link href='a'/></entry></feed>",
		"<?xml version='1.0' encoding='koi8-r'?><rdf:RDF><item rdf:about='https://example.com/a'>",
		"https://example.com/\nhttps://other.example/\r\nnothing",
		"\xff\xfe<\x00", "<a></b></a>", "<urlset><url>&nbsp;&bogus;<loc><![CDATA[", "\x1f\x8b\x08",
		"<a " + strings.Repeat("b", 1000) + "×='c'>",
	} {
		f.Add([]byte(s), false)
		f.Add(compress(f, []byte(s)), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, announced bool) {
		opts := Options{Announced: func(string) bool { return announced }}
		s, problems := parse(bytes.NewReader(body), base, opts)
		again, problemsAgain := parse(bytes.NewReader(body), base, opts)
		if !reflect.DeepEqual(s, again) || len(problems) != len(problemsAgain) {
			t.Fatal("two readings differ")
		}
		if s.Kind == UnknownKind && len(problems) == 0 {
			t.Error("nothing was read and nothing is wrong")
		}
		if len(problems) > MaxProblems || s.Kind == UnknownKind && len(s.Entries) > 0 {
			t.Errorf("%d problems, %d entries of kind %s", len(problems), len(s.Entries), s.Kind)
		}
		for _, e := range s.Entries {
			checkEntry(t, s, e, announced)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Err == nil || len(p.Error()) > 1000 {
				t.Errorf("problem %v", p)
			}
		}
	})
}

func checkEntry(t *testing.T, s whole, e Entry, announced bool) {
	if u, err := page.ParseURL(string(e.URL)); err != nil || u != e.URL {
		t.Errorf("%q is not canonical: %q, %v", e.URL, u, err)
	}
	if (e.Kind == SitemapEntry) != (s.Kind == Index) {
		t.Errorf("%s of kind %v in a %s", e.URL, e.Kind, s.Kind)
	}
	if e.Kind == PageEntry && !announced && e.URL.Host() != "example.com" {
		t.Errorf("%s is on another host", e.URL)
	}
}

// FuzzTime checks that a date that was read is read the same when written out.
func FuzzTime(f *testing.F) {
	for _, s := range []string{"2024-03-01", "2024-03-01T08:30+01:00", "Thu, 05 Jan 17 13:34:52 GMT", ",", "2024"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := parseTime(s)
		if err != nil {
			return
		}
		again, err := parseTime(at.Format("2006-01-02T15:04:05.999999999Z07:00"))
		if err != nil || !again.Equal(at) {
			t.Errorf("%q: %v, then %v, %v", s, at, again, err)
		}
	})
}

func FuzzDiscover(f *testing.F) {
	f.Add("<base href=/x/><link rel='alternate next' type=application/rss+xml href=a hreflang=de>")
	f.Fuzz(func(t *testing.T, body string) {
		root, err := html.Parse(strings.NewReader(body))
		if err != nil {
			return
		}
		for _, r := range Discover(base, root, page.QueryEncoder(&page.Fetch{})) {
			if u, err := page.ParseURL(string(r.URL)); err != nil || u != r.URL || u == base {
				t.Errorf("%+v: %v", r, err)
			}
		}
	})
}
