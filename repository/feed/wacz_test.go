package feed_test

import (
	"archive/zip"
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
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
	opts.URLs = []page.URL{"https://a.example/", "https://other.example/", "https://a.example/home", "https://a.example/"}
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
		if n := strings.Count(pages, line); n != 1 {
			t.Errorf("%s is %d times in the pages %s", line, n, pages)
		}
	}
}

// opened returns the URLs of the captures, sorted, and the list of pages.
func opened(t *testing.T, wacz string) (captures []string, pages string) {
	t.Helper()
	fetches, pages := fetchesOf(t, wacz)
	for u := range fetches {
		captures = append(captures, string(u))
	}
	slices.Sort(captures)
	return captures, pages
}

// fetchesOf returns the captures, which must have different URLs, and the list of pages.
func fetchesOf(t *testing.T, wacz string) (captures map[page.URL]*page.Fetch, pages string) {
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
	captures = make(map[page.URL]*page.Fetch)
	for f, err := range warc.NewReader(bytes.NewReader(read("archive/data.warc.gz")), "data.warc.gz", warc.Options{}).Fetches() {
		if err != nil || f.Err != "" || captures[f.URL] != nil {
			t.Errorf("%v %v", f, err)
		}
		captures[f.URL] = &f
	}
	return captures, string(read("pages/pages.jsonl"))
}

// htmlReader finds the HTML of a document behind its mark.
type htmlReader struct{}

func (htmlReader) Version() int { return 1 }

func (htmlReader) Read(_ context.Context, body []byte) ([]byte, error) {
	html, found := bytes.CutPrefix(body, []byte("%PDF "))
	if !found {
		return nil, pdf.Unreadable("it is damaged")
	}
	return html, nil
}

// TestArchiveOfDocuments writes a PDF document with what was read of it, and an office document as
// it was fetched. Both are pages with titles, and a replay of the file finds them. A damaged
// document is not a page.
func TestArchiveOfDocuments(t *testing.T) {
	r, err := webtest.Open(t.Context(), webtest.Options{PDF: htmlReader{}})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	_, err = r.DB.Run(t.Context(), func(tx *txn.Txn) error {
		schema.PDFFormat.Write(tx, schema.FormatOn)
		schema.OfficeFormat.Write(tx, schema.FormatOn)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const read = "<title>Plan</title><p>The harbour is dredged: <a href=https://a.example/>the port</a> \u00fc"
	report := officetest.Word("Report", "text", "/")
	for u, f := range map[page.URL]page.Fetch{
		"https://a.example/":            {Status: 302, Header: http.Header{"Location": {"/plan.pdf"}}},
		"https://a.example/plan.pdf":    {Status: 200, Header: http.Header{"Content-Type": {pdftest.Type}}, Body: []byte("%PDF " + read)},
		"https://a.example/report.docx": {Status: 200, Header: http.Header{"Content-Type": {officetest.WordType}}, Body: report},
		"https://a.example/damaged.pdf": {Status: 200, Header: http.Header{"Content-Type": {pdftest.Type}}, Body: []byte("rubbish")},
	} {
		f.URL, f.Time = u, time.Unix(100, 0)
		if _, err := r.Load(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Quiesce(t.Context(), func(int) int { return 0 }); err != nil {
		t.Fatal(err)
	}
	opts := choice(export.FormatWACZ, export.Pages)
	opts.URLs = []page.URL{"https://a.example/damaged.pdf"}
	if err := writeTo(t, r, opts); err == nil || !strings.Contains(err.Error(), "no copy of the page is stored") {
		t.Errorf("a damaged document: %v", err)
	}
	opts.URLs = []page.URL{"https://a.example/", "https://a.example/report.docx", "https://a.example/plan.pdf"}
	res, out := written(t, r, opts)
	if res.Documents != 3 || res.Captures != 3 || res.Missing != 0 {
		t.Errorf("%+v", res)
	}
	captures, pages := fetchesOf(t, out)
	for _, line := range []string{
		`"url":"https://a.example/","ts":"1970-01-01T00:01:40Z","title":"Plan"`, `"url":"https://a.example/plan.pdf","ts":"1970-01-01T00:01:40Z","title":"Plan"`,
		`"url":"https://a.example/report.docx","ts":"1970-01-01T00:01:40Z","title":"Report"`,
	} {
		if !strings.Contains(pages, line) {
			t.Errorf("no %s in the pages %s", line, pages)
		}
	}
	plan := captures["https://a.example/plan.pdf"]
	if doc := page.Interpret(plan); string(plan.Body) != read || doc.Outcome != page.Page || doc.Title != "Plan" || len(doc.Links) != 1 || !strings.HasSuffix(doc.Text, "\u00fc") {
		t.Errorf("the plan is %v %q", plan.Header, plan.Body)
	}
	if got := captures["https://a.example/report.docx"]; !bytes.Equal(got.Body, report) || got.Header.Get("Content-Type") != officetest.WordType {
		t.Errorf("the report is %v with %d bytes", got.Header, len(got.Body))
	}
}

func TestArchiveOfNothing(t *testing.T) {
	r := webtest.Settled(t, web...)
	for _, u := range []page.URL{"https://unknown.example/", "https://gone.example/"} {
		opts := choice(export.FormatWACZ, export.Pages)
		opts.URLs = []page.URL{u}
		if err := writeTo(t, r, opts); err == nil || !strings.Contains(err.Error(), "no copy of the page is stored; `indexer inspect` says why") {
			t.Errorf("%s: %v", u, err)
		}
	}
	if err := writeTo(t, r, choice(export.FormatWACZ, export.Pages)); err == nil {
		t.Error("a WACZ of no pages was written")
	}
}
