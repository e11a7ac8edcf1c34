package repository_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// documents are what the tests of a format whose documents are pages only with a setting need.
type documents struct {
	format    *schema.Format
	mediaType string
	plan      page.URL // a document of the web
	damaged   page.URL // another one, without a text
	// make makes a document with a link, if there is one.
	make func(title, text, link string) []byte
	rot  func([]byte) []byte // damages a document
	with func(setting *bool) repository.Options
	off  string // why a document is not a page without the setting
	why  string // why the damaged one is none with it
}

// web returns a page that links to documents, one of which links back. Two have the same
// content, one changes, one is damaged, and one has become a page.
func (d *documents) web() []page.Fetch {
	fetch := func(u page.URL, day int, mediaType string, body []byte) page.Fetch {
		at := time.Date(2024, 5, day, 0, 0, 0, 0, time.UTC)
		return page.Fetch{URL: u, Time: at, Status: 200, Header: http.Header{"Content-Type": {mediaType}, "Etag": {`"v"`}}, Body: body}
	}
	long := strings.Repeat("The harbour is dredged every third year. ", 4)
	plan := d.make("Plan", long, "/")
	html := []byte("<title>Port</title><a href=" + d.plan.Path() + ">the plan</a> <a href=" + d.damaged.Path() + ">damaged</a> " + long)
	return []page.Fetch{
		fetch("https://port.example/", 1, "text/html", html),
		fetch(d.plan, 1, d.mediaType, d.make("Draft of the plan", long, "")),
		fetch(d.plan, 2, d.mediaType, plan),
		fetch("https://port.example/copy", 2, d.mediaType, plan),
		fetch(d.damaged, 2, d.mediaType, d.rot(plan)),
		fetch("https://port.example/moved", 1, d.mediaType, d.make("Moved", long, "/elsewhere")),
		fetch("https://port.example/moved", 3, "text/html", []byte("<title>Moved</title>"+long)),
	}
}

func (d *documents) open(t *testing.T, dir string, setting *bool, workers int) *repository.Repository {
	t.Helper()
	opts := d.with(setting)
	opts.Workers = workers
	return open(t, dir, opts)
}

// undisturbed returns the digest of the web with the setting.
func (d *documents) undisturbed(t *testing.T) string {
	t.Helper()
	r := d.open(t, t.TempDir(), new(true), 1)
	defer closeNow(t, r)
	load(t, r, 1, d.web())
	i, err := inspect.URL(t.Context(), r, d.plan, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i.Title != "Plan" || len(i.Outlinks) != 1 || i.Outlinks[0].URL != "https://port.example/" || len(i.Members) != 2 || len(i.Inlinks) != 1 {
		t.Errorf("%+v", i)
	}
	return digestOf(t, r)
}

// testOff: without the setting, documents are not pages.
func (d *documents) testOff(t *testing.T) {
	r := d.open(t, t.TempDir(), nil, 2)
	defer closeNow(t, r)
	load(t, r, 2, d.web())
	wantSound(t, r, digestOf(t, r))
	wantOutcome(t, r, d.plan, "other", d.off)
	if _, err := inspect.Copy(t.Context(), r.DB(), d.plan, 0); err == nil {
		t.Error("the body was kept")
	}
}

// testOrders: with the setting, documents are pages, in whatever order they are loaded, and the
// setting stays. look looks at each repository, which has been opened without a reader.
func (d *documents) testOrders(t *testing.T, look func(*repository.Repository)) {
	rnd := testenv.Random(t)
	want := d.undisturbed(t)
	for range testenv.Size(1, 2, 10) {
		dir := t.TempDir()
		r := d.open(t, dir, new(true), 1+rnd.IntN(4))
		load(t, r, 1, shuffled(rnd, d.web()[:3]))
		closeNow(t, r)
		r = d.open(t, dir, nil, 2)
		load(t, r, 1+rnd.IntN(4), shuffled(rnd, d.web()))
		closeNow(t, r)
		r = open(t, dir, repository.Options{})
		wantSound(t, r, want)
		wantOutcome(t, r, d.plan, "page", "")
		wantOutcome(t, r, d.damaged, "other", d.why)
		look(r)
		closeNow(t, r)
	}
}

// testSwitched: the documents that are stored go when the setting is turned off. When it is
// turned on again, the same fetches bring them back, and the crawl asks for them without
// validators.
func (d *documents) testSwitched(t *testing.T) {
	with := d.undisturbed(t)
	plain := d.open(t, t.TempDir(), nil, 1)
	load(t, plain, 1, d.web())
	without := digestOf(t, plain)
	closeNow(t, plain)
	if with == without {
		t.Fatal("the setting made no difference")
	}

	dir := t.TempDir()
	reopened := func(setting *bool) *repository.Repository {
		r := d.open(t, dir, setting, 2)
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := reopened(new(true))
	load(t, r, 1, d.web())
	enlist(t, r, d.plan)
	wantSound(t, r, with)
	closeNow(t, r)

	r = reopened(new(false))
	wantSound(t, r, without)
	closeNow(t, r)
	r = reopened(nil)
	if n := runs(r); n != 0 {
		t.Errorf("%d runs of observers after the second opening", n)
	}
	if got := load(t, r, 1, d.web()); got[loader.Changed] != 0 {
		t.Errorf("loading again: %v", got)
	}
	closeNow(t, r)

	r = reopened(new(true))
	wantSound(t, r, without)
	if e := entryOf(t, r, d.plan); e.ETag != "" || e.LastModified != "" {
		t.Errorf("the crawl would ask with %q and %q", e.ETag, e.LastModified)
	}
	load(t, r, 1, d.web())
	wantSound(t, r, with)
	closeNow(t, r)
}

// testInterrupted: an opening that was interrupted while it turned the setting off or on is
// completed by the next one.
func (d *documents) testInterrupted(t *testing.T) {
	dir := t.TempDir()
	r := d.open(t, dir, new(true), 1)
	load(t, r, 1, d.web())
	write(t, r, func(tx *txn.Txn) { d.format.Write(tx, schema.FormatOffSoon) })
	closeNow(t, r)

	r = d.open(t, dir, nil, 1)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, digestOf(t, r))
	wantOutcome(t, r, d.plan, "other", d.off)
	enlist(t, r, d.plan)
	write(t, r, func(tx *txn.Txn) { d.format.Write(tx, schema.FormatOnSoon) })
	closeNow(t, r)

	r = d.open(t, dir, nil, 1)
	if e := entryOf(t, r, d.plan); e.ETag != "" {
		t.Errorf("the crawl would ask with %q", e.ETag)
	}
	load(t, r, 1, d.web())
	wantOutcome(t, r, d.plan, "page", "")
	closeNow(t, r)
}
