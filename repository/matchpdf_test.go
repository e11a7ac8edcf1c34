package repository_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

const (
	planURL   = page.URL("https://port.example/plan.pdf")
	brokenURL = page.URL("https://port.example/broken.pdf")
)

// plainReader takes documents for HTML already.
type plainReader struct{}

func (plainReader) Version() int { return 1 }

func (plainReader) Read(_ context.Context, body []byte) ([]byte, error) {
	html, found := bytes.CutPrefix(body, []byte("%PDF "))
	if !found {
		return nil, pdf.Unreadable("it is damaged")
	}
	return html, nil
}

// pdfWeb is a page that links to documents, one of which links back. Two have the same content,
// one changes, one is damaged, and one has become a page.
func pdfWeb() []page.Fetch {
	fetch := func(u page.URL, day int, mediaType, body string) page.Fetch {
		at := time.Date(2024, 5, day, 0, 0, 0, 0, time.UTC)
		return page.Fetch{URL: u, Time: at, Status: 200, Header: http.Header{"Content-Type": {mediaType}, "Etag": {`"v"`}}, Body: []byte(body)}
	}
	long := strings.Repeat("The harbour is dredged every third year. ", 4)
	plan := "%PDF <title>Plan</title><a href=/>the port</a> " + long
	return []page.Fetch{
		fetch("https://port.example/", 1, "text/html", "<title>Port</title><a href=plan.pdf>the plan</a> <a href=broken.pdf>broken</a> "+long),
		fetch(planURL, 1, pdftest.Type, "%PDF <title>Draft of the plan</title>"+long),
		fetch(planURL, 2, pdftest.Type, plan),
		fetch("https://port.example/copy", 2, pdftest.Type, plan),
		fetch(brokenURL, 2, pdftest.Type, "rubbish"),
		fetch("https://port.example/moved", 1, pdftest.Type, "%PDF <title>Moved</title><a href=/elsewhere>x</a>"+long),
		fetch("https://port.example/moved", 3, "text/html", "<title>Moved</title>"+long),
	}
}

func openWithPDFs(t *testing.T, dir string, setting *bool, workers int) *repository.Repository {
	t.Helper()
	return open(t, dir, repository.Options{PDF: setting, PDFReader: plainReader{}, Workers: workers})
}

// TestPDFOff: without the setting, PDF documents are what they always were.
func TestPDFOff(t *testing.T) {
	r := openWithPDFs(t, t.TempDir(), nil, 2)
	defer closeNow(t, r)
	load(t, r, 2, pdfWeb())
	wantSound(t, r, digestOf(t, r))
	wantOutcome(t, r, planURL, "other", "the setting pdf was off")
	if _, err := inspect.Copy(t.Context(), r.DB(), planURL, 0); err == nil {
		t.Error("the body was kept")
	}
}

// TestPDF: with the setting, documents are pages, in whatever order they are loaded. The
// setting stays, and what was read needs no reader.
func TestPDF(t *testing.T) {
	rnd := testenv.Random(t)
	want := undisturbedPDF(t)
	for range testenv.Size(1, 2, 10) {
		dir := t.TempDir()
		r := openWithPDFs(t, dir, new(true), 1+rnd.IntN(4))
		load(t, r, 1, shuffled(rnd, pdfWeb()[:3]))
		closeNow(t, r)
		r = openWithPDFs(t, dir, nil, 2)
		load(t, r, 1+rnd.IntN(4), shuffled(rnd, pdfWeb()))
		closeNow(t, r)
		r = open(t, dir, repository.Options{})
		wantSound(t, r, want)
		wantOutcome(t, r, planURL, "page", "")
		wantOutcome(t, r, brokenURL, "other", "a PDF document without a text that can be read: it is damaged")
		f, err := inspect.Copy(t.Context(), r.DB(), planURL, 0)
		if err != nil {
			t.Fatal(err)
		}
		if text, html, ok := page.BodyText(f); !html || !ok || !strings.HasPrefix(text, "<title>Plan") {
			t.Errorf("stored copy %q", text)
		}
		closeNow(t, r)
	}
}

func undisturbedPDF(t *testing.T) string {
	t.Helper()
	r := openWithPDFs(t, t.TempDir(), new(true), 1)
	defer closeNow(t, r)
	load(t, r, 1, pdfWeb())
	i, err := inspect.URL(t.Context(), r, planURL, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i.Title != "Plan" || len(i.Outlinks) != 1 || i.Outlinks[0].URL != "https://port.example/" || len(i.Members) != 2 || len(i.Inlinks) != 1 {
		t.Errorf("%+v", i)
	}
	return digestOf(t, r)
}

// TestPDFSwitched: the documents that are stored go when the setting is turned off. When it is
// turned on again, the same fetches bring them back, and the crawl asks for them without
// validators.
func TestPDFSwitched(t *testing.T) {
	with := undisturbedPDF(t)
	plain := openWithPDFs(t, t.TempDir(), nil, 1)
	load(t, plain, 1, pdfWeb())
	without := digestOf(t, plain)
	closeNow(t, plain)
	if with == without {
		t.Fatal("the setting made no difference")
	}

	dir := t.TempDir()
	reopened := func(setting *bool) *repository.Repository {
		r := openWithPDFs(t, dir, setting, 2)
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := reopened(new(true))
	load(t, r, 1, pdfWeb())
	enlist(t, r, planURL)
	wantSound(t, r, with)
	closeNow(t, r)

	r = reopened(new(false))
	wantSound(t, r, without)
	closeNow(t, r)
	r = reopened(nil)
	if n := runs(r); n != 0 {
		t.Errorf("%d runs of observers after the second opening", n)
	}
	if got := load(t, r, 1, pdfWeb()); got[loader.Changed] != 0 {
		t.Errorf("loading again: %v", got)
	}
	closeNow(t, r)

	r = reopened(new(true))
	wantSound(t, r, without)
	if e := entryOf(t, r, planURL); e.ETag != "" || e.LastModified != "" {
		t.Errorf("the crawl would ask with %q and %q", e.ETag, e.LastModified)
	}
	load(t, r, 1, pdfWeb())
	wantSound(t, r, with)
	closeNow(t, r)
}

// TestPDFSwitchInterrupted: an opening that was interrupted while it turned the setting off or
// on is completed by the next one.
func TestPDFSwitchInterrupted(t *testing.T) {
	dir := t.TempDir()
	r := openWithPDFs(t, dir, new(true), 1)
	load(t, r, 1, pdfWeb())
	write(t, r, func(tx *txn.Txn) { schema.PDFFormat.Write(tx, schema.FormatOffSoon) })
	closeNow(t, r)

	r = openWithPDFs(t, dir, nil, 1)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, digestOf(t, r))
	wantOutcome(t, r, planURL, "other", "the setting pdf was off")
	enlist(t, r, planURL)
	write(t, r, func(tx *txn.Txn) { schema.PDFFormat.Write(tx, schema.FormatOnSoon) })
	closeNow(t, r)

	r = openWithPDFs(t, dir, nil, 1)
	if e := entryOf(t, r, planURL); e.ETag != "" {
		t.Errorf("the crawl would ask with %q", e.ETag)
	}
	load(t, r, 1, pdfWeb())
	wantOutcome(t, r, planURL, "page", "")
	closeNow(t, r)
}

// TestPDFShared: on a table that several processes share, the loader has documents read, and
// workers need no reader. The worker that takes the lease turns the setting on.
func TestPDFShared(t *testing.T) {
	want := undisturbedPDF(t)
	f := newFleet(t)
	worker := f.joinWith(repository.Options{PDF: new(true)}, true, observers.LeaseRank, observers.LeaseIndex)
	for !holdsPDF(t, worker.Repository) {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nobody turned the setting on")
		}
	}
	loader := f.joinWith(repository.Options{PDFReader: plainReader{}}, false)
	load(t, loader.Repository, 2, pdfWeb())
	wantAlike(t, want, worker, loader)
	wantOutcome(t, worker.Repository, planURL, "page", "")
	for _, m := range []*member{worker, loader} {
		closeNow(t, m.Repository)
	}
}

func holdsPDF(t *testing.T, r *repository.Repository) bool {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	s, err := schema.PDFFormat.Read(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return s.Holds()
}

// TestPDFDamaged: verify finds what was read and then changed.
func TestPDFDamaged(t *testing.T) {
	r := openWithPDFs(t, t.TempDir(), new(true), 1)
	defer closeNow(t, r)
	load(t, r, 1, pdfWeb())
	write(t, r, func(tx *txn.Txn) {
		tx.Set(schema.URLRow(planURL), schema.Body, schema.EncodeBody([]byte("<title>Forged</title>")))
	})
	rep, err := verify.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rep.Differences); !strings.Contains(got, "(digest)") {
		t.Errorf("verify found %s", got)
	}
}
