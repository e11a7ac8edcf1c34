package feed_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// TestArchive writes a redirect to a page and a page of its own. Images have no stored bodies
// while rendering is off. That an image is gone is stored.
func TestArchive(t *testing.T) {
	r := webtest.Settled(t, "other.example/ at=9 page text=other title=Other")
	load := func(f page.Fetch) {
		f.Time = time.Unix(100, 0)
		if _, err := r.Load(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	html := http.Header{"Content-Type": {"text/html"}}
	load(page.Fetch{URL: "https://a.example/", Status: 301, Header: http.Header{"Location": {"/home"}}})
	load(page.Fetch{URL: "https://a.example/home", Status: 200, Header: html, Body: []byte(`<title>Home</title>text<img src=/i.png><script src=/moved.js></script><img src=/never.png><img src=/gone.png>`)})
	load(page.Fetch{URL: "https://a.example/gone.png", Status: 404, Header: html, Body: []byte("<p>There is no such picture.")})
	load(page.Fetch{URL: "https://a.example/i.png", Status: 200, Header: http.Header{"Content-Type": {"image/png"}}, Body: []byte("PNG")})
	load(page.Fetch{URL: "https://a.example/moved.js", Status: 302, Header: http.Header{"Location": {"/new.js"}}})
	load(page.Fetch{URL: "https://a.example/new.js", Status: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("run()")})
	if err := r.Quiesce(t.Context(), func(int) int { return 0 }); err != nil {
		t.Fatal(err)
	}
	opts := choice(export.FormatWACZ, export.Pages)
	opts.URLs = []page.URL{"https://a.example/", "https://other.example/", "https://a.example/home"}
	res, out := written(t, r, opts)
	if res.Documents != 3 || res.Captures != 6 || res.Missing != 2 {
		t.Errorf("%+v", res)
	}
	captures, pages := opened(t, out)
	want := []string{"https://a.example/", "https://a.example/gone.png", "https://a.example/home", "https://a.example/moved.js", "https://a.example/new.js", "https://other.example/"}
	if !slices.Equal(captures, want) {
		t.Errorf("captures %v, want %v", captures, want)
	}
	for _, line := range []string{`"url":"https://a.example/","ts":"1970-01-01T00:01:40Z","title":"Home"`, `"url":"https://other.example/"`} {
		if !strings.Contains(pages, line) {
			t.Errorf("no %s in the pages %s", line, pages)
		}
	}
}

// opened returns the URLs of the captures, sorted, and the list of pages.
func opened(t *testing.T, wacz string) (captures []string, pages string) {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(wacz), int64(len(wacz)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		f, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(f); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for f, err := range warc.NewReader(bytes.NewReader(read("archive/data.warc.gz")), "data.warc.gz", warc.Options{}).Fetches() {
		if err != nil || f.Err != "" {
			t.Errorf("%v %v", f, err)
		}
		captures = append(captures, string(f.URL))
	}
	slices.Sort(captures)
	return captures, string(read("pages/pages.jsonl"))
}

func TestArchiveOfNothing(t *testing.T) {
	r := webtest.Settled(t, web...)
	for _, u := range []page.URL{"https://unknown.example/", "https://gone.example/"} {
		opts := choice(export.FormatWACZ, export.Pages)
		opts.URLs = []page.URL{u}
		if err := writeTo(t, r, opts); err == nil || !strings.Contains(err.Error(), "no stored copy") {
			t.Errorf("%s: %v", u, err)
		}
	}
	if err := writeTo(t, r, choice(export.FormatWACZ, export.Pages)); err == nil {
		t.Error("a WACZ of no pages was written")
	}
}
