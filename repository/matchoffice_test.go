package repository_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

const (
	reportURL  = page.URL("https://port.example/report.docx")
	damagedURL = page.URL("https://port.example/damaged.docx")
)

// officeWeb is a page that links to office documents, one of which links back. Two have the
// same content, one changes, one is damaged, and one has become a page.
func officeWeb() []page.Fetch {
	day := func(n int) time.Time { return time.Date(2024, 5, n, 0, 0, 0, 0, time.UTC) }
	fetch := func(u page.URL, n int, mediaType string, body []byte) page.Fetch {
		return page.Fetch{URL: u, Time: day(n), Status: 200, Header: http.Header{"Content-Type": {mediaType}, "Etag": {`"v"`}}, Body: body}
	}
	long := strings.Repeat("The harbour is dredged every third year. ", 4)
	report := officetest.Word("Report", long, "/")
	html := []byte("<title>Port</title><a href=report.docx>the report</a> <a href=damaged.docx>damaged</a> " + long)
	return []page.Fetch{
		fetch("https://port.example/", 1, "text/html", html),
		fetch(reportURL, 1, officetest.WordType, officetest.Word("Draft of the report", long, "")),
		fetch(reportURL, 2, officetest.WordType, report),
		fetch("https://port.example/copy", 2, officetest.WordType, report),
		fetch(damagedURL, 2, officetest.WordType, report[:len(report)/2]),
		fetch("https://port.example/moved", 1, officetest.WordType, officetest.Word("Moved", long, "/elsewhere")),
		fetch("https://port.example/moved", 3, "text/html", []byte("<title>Moved</title>"+long)),
	}
}

// TestOfficeOff: without the setting, office documents are what they always were.
func TestOfficeOff(t *testing.T) {
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 2, officeWeb())
	wantSound(t, r, digestOf(t, r))
	wantOutcome(t, r, reportURL, "other", "the setting office was off")
	if _, err := inspect.Copy(t.Context(), r.DB(), reportURL, 0); err == nil {
		t.Error("the body was kept")
	}
}

// TestOffice: with the setting, documents are pages, in whatever order they are loaded, and
// the setting stays.
func TestOffice(t *testing.T) {
	rnd := testenv.Random(t)
	want := undisturbedOffice(t)
	for range testenv.Size(1, 2, 10) {
		dir := t.TempDir()
		r := open(t, dir, repository.Options{Office: new(true), Workers: 1 + rnd.IntN(4)})
		load(t, r, 1, shuffled(rnd, officeWeb()[:3]))
		closeNow(t, r)
		r = open(t, dir, repository.Options{})
		load(t, r, 1+rnd.IntN(4), shuffled(rnd, officeWeb()))
		wantSound(t, r, want)
		wantOutcome(t, r, reportURL, "page", "")
		wantOutcome(t, r, damagedURL, "other", "the document is damaged")
		closeNow(t, r)
	}
}

func undisturbedOffice(t *testing.T) string {
	r := open(t, t.TempDir(), repository.Options{Office: new(true), Workers: 1})
	defer closeNow(t, r)
	load(t, r, 1, officeWeb())
	i, err := inspect.URL(t.Context(), r, reportURL, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i.Title != "Report" || len(i.Outlinks) != 1 || i.Outlinks[0].URL != "https://port.example/" || len(i.Members) != 2 || len(i.Inlinks) != 1 {
		t.Errorf("%+v", i)
	}
	return digestOf(t, r)
}

// TestOfficeSwitched: the documents that are stored go when the setting is turned off. When it
// is turned on again, the same fetches bring them back, and the crawl asks for them without
// validators.
func TestOfficeSwitched(t *testing.T) {
	with := undisturbedOffice(t)
	plain := open(t, t.TempDir(), repository.Options{})
	load(t, plain, 1, officeWeb())
	without := digestOf(t, plain)
	closeNow(t, plain)
	if with == without {
		t.Fatal("the setting made no difference")
	}

	dir := t.TempDir()
	reopened := func(office *bool) *repository.Repository {
		r := open(t, dir, repository.Options{Office: office})
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := reopened(new(true))
	load(t, r, 1, officeWeb())
	enlist(t, r, reportURL)
	wantSound(t, r, with)
	closeNow(t, r)

	r = reopened(new(false))
	wantSound(t, r, without)
	closeNow(t, r)
	r = reopened(nil)
	if n := runs(r); n != 0 {
		t.Errorf("%d runs of observers after the second opening", n)
	}
	if got := load(t, r, 1, officeWeb()); got[loader.Changed] != 0 {
		t.Errorf("loading again: %v", got)
	}
	closeNow(t, r)

	r = reopened(new(true))
	wantSound(t, r, without)
	if e := entryOf(t, r, reportURL); e.ETag != "" || e.LastModified != "" {
		t.Errorf("the crawl would ask with %q and %q", e.ETag, e.LastModified)
	}
	load(t, r, 1, officeWeb())
	wantSound(t, r, with)
	closeNow(t, r)
}

// TestOfficeSwitchInterrupted: an opening that was interrupted while it turned the setting off
// or on is completed by the next one.
func TestOfficeSwitchInterrupted(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, repository.Options{Office: new(true)})
	load(t, r, 1, officeWeb())
	write(t, r, func(tx *txn.Txn) { schema.OfficeFormat.Write(tx, schema.FormatOffSoon) })
	closeNow(t, r)

	r = open(t, dir, repository.Options{})
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, digestOf(t, r))
	wantOutcome(t, r, reportURL, "other", "the setting office was off")
	enlist(t, r, reportURL)
	write(t, r, func(tx *txn.Txn) { schema.OfficeFormat.Write(tx, schema.FormatOnSoon) })
	closeNow(t, r)

	r = open(t, dir, repository.Options{})
	if e := entryOf(t, r, reportURL); e.ETag != "" {
		t.Errorf("the crawl would ask with %q", e.ETag)
	}
	load(t, r, 1, officeWeb())
	wantOutcome(t, r, reportURL, "page", "")
	closeNow(t, r)
}

func write(t *testing.T, r *repository.Repository, what func(*txn.Txn)) {
	t.Helper()
	if _, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error { what(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func wantOutcome(t *testing.T, r *repository.Repository, u page.URL, outcome, reason string) {
	t.Helper()
	i, err := inspect.URL(t.Context(), r, u, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i.Outcome != outcome || !strings.Contains(i.Reason, reason) {
		t.Errorf("%s is %s: %s", u, i.Outcome, i.Reason)
	}
}

// enlist puts a URL into the frontier, as visited.
func enlist(t *testing.T, r *repository.Repository, u page.URL) {
	t.Helper()
	write(t, r, func(tx *txn.Txn) {
		e := schema.FrontierEntry{State: schema.EntryDone, ETag: `"v"`, LastModified: "Wed, 01 May 2024 00:00:00 GMT"}
		tx.Set(schema.URLRow(u), schema.Entry, e.Encode())
	})
}

func entryOf(t *testing.T, r *repository.Repository, u page.URL) schema.FrontierEntry {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	v, err := tx.Get(t.Context(), schema.URLRow(u), schema.Entry)
	if err != nil {
		t.Fatal(err)
	}
	e, err := schema.DecodeEntry(v.Data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
