package repository_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestRenderedSite follows the site through its moments: what is rendered each time, and what
// is found.
func TestRenderedSite(t *testing.T) { followSite(t, siteBrowser{}) }

// TestRenderedSiteInChromium does it in a browser.
func TestRenderedSiteInChromium(t *testing.T) {
	path, err := render.Find("")
	if err != nil || testing.Short() {
		t.Skip("no browser, or a short test: ", err)
	}
	browser := render.New(render.Options{Path: path})
	defer func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	}()
	followSite(t, repository.Chromium{Browser: browser})
}

func followSite(t *testing.T, renderer observers.Renderer) {
	browser := &counted{Renderer: renderer}
	r := open(t, t.TempDir(), repository.Options{Render: "auto", Renderer: browser})
	defer closeNow(t, r)

	load(t, r, 1, siteFetches(t, 1))
	browser.want(t, siteHome, siteAbout, siteCopy)
	wantSound(t, r, digestOf(t, r))
	wantFound(t, r, "pilots announce", siteHome)
	wantFound(t, r, "spring tide", siteHome)
	wantFound(t, r, "herring", siteAbout)
	wantFound(t, r, "counter", "")
	wantFound(t, r, "JavaScript", "")
	home := inspected(t, r, siteHome)
	if len(home.Outlinks) != 1 || home.Outlinks[0].URL != siteAbout {
		t.Errorf("links %v, want one to %s", home.Outlinks, siteAbout)
	}
	if copied := inspected(t, r, siteCopy); copied.Canonical != siteHome {
		t.Errorf("the canonical URL of the copy is %s", copied.Canonical)
	}

	load(t, r, 1, siteFetches(t, 2, "menu.js"))
	browser.want(t, siteAbout)
	wantFound(t, r, "herring", "")
	wantFound(t, r, "mackerel", siteAbout)

	before := digestOf(t, r)
	load(t, r, 1, siteFetches(t, 2, "logo.png"))
	browser.want(t, siteHome)
	wantSound(t, r, before)

	load(t, r, 1, siteFetches(t, 2, "data/about.json")) // which was missing
	browser.want(t, siteAbout)
	wantFound(t, r, "counter", siteAbout)

	load(t, r, 1, siteFetches(t, 3))
	browser.want(t, siteHome, siteAbout, siteCopy)
	wantFound(t, r, "pilots announce", "")
	wantFound(t, r, "harbour master", siteHome)
	wantSound(t, r, digestOf(t, r))
	load(t, r, 1, wholeSite(t))
	browser.want(t)

	wantPictured(t, r)
	if _, err := r.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantPictured(t, r)
	wantSound(t, r, digestOf(t, r))
}

// wantPictured wants the index files to have the thumbnails of the documents that are rendered
// pages, and of no others.
func wantPictured(t *testing.T, r *repository.Repository) {
	t.Helper()
	reader, err := index.OpenReader(repository.IndexDir(r.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	got, err := reader.Pictured(t.Context(), []page.URL{siteHome, siteAbout, "https://site.example/plain", "https://site.example/nowhere"})
	if err != nil || !slices.Equal(got, []page.URL{siteHome, siteAbout}) {
		t.Errorf("%v have thumbnails; %v", got, err)
	}
	if image, err := reader.Thumbnail(t.Context(), siteHome); err != nil || len(image) == 0 {
		t.Errorf("a thumbnail of %d bytes; %v", len(image), err)
	}
}

// wantFound wants a search for words to find a page, or nothing if u is "". The plain page and
// the pages of scripts have different words.
func wantFound(t *testing.T, r *repository.Repository, words string, u page.URL) {
	t.Helper()
	q, err := r.Quiet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}()
	res, err := q.Index.(filesView).Search(t.Context(), words, search.Options{Verbatim: true, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	got := page.URL("")
	if res.AllWords > 0 {
		got = page.URL(res.Hits[0].URL)
	}
	if got != u {
		t.Errorf("search %q finds %q, want %q", words, got, u)
	}
}

// renderedDigest returns the digest of the whole site, rendered, loaded in order.
func renderedDigest(t *testing.T) string {
	t.Helper()
	return undisturbedWith(t, repository.Options{Render: "auto", Renderer: siteBrowser{}}, wholeSite(t))
}

// TestRenderedInAnyOrder: the digest does not depend on the order of the fetches, on the
// number of workers, or on when the process ends.
func TestRenderedInAnyOrder(t *testing.T) {
	rnd, want := testenv.Random(t), renderedDigest(t)
	for range testenv.Size(1, 3, 30) {
		dir, fetches := t.TempDir(), shuffled(rnd, wholeSite(t))
		opts := repository.Options{Render: "auto", Renderer: siteBrowser{}, Workers: []int{1, 8}[rnd.IntN(2)]}
		for len(fetches) > 0 { // the observers of each part are interrupted
			n := 1 + rnd.IntN(len(fetches))
			r := open(t, dir, opts)
			if _, err := loadAll(t.Context(), r, 1+rnd.IntN(4), fetches[:n], nil); err != nil {
				t.Fatal(err)
			}
			closeNow(t, r)
			fetches, opts.Render = fetches[n:], ""
		}
		r := open(t, dir, opts)
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantSound(t, r, want)
		closeNow(t, r)
	}
}

// TestRenderSwitched: turned off, the index is that of a repository that never rendered, and
// the table has nothing about rendering. Turned on again, the same fetches give the same
// forms.
func TestRenderSwitched(t *testing.T) {
	with, without := renderedDigest(t), undisturbed(t, wholeSite(t))
	if with == without {
		t.Fatal("rendering made no difference")
	}
	dir := t.TempDir()
	reopened := func(setting string) *repository.Repository {
		t.Helper()
		r := open(t, dir, repository.Options{Render: setting, Renderer: siteBrowser{}})
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := reopened("")
	load(t, r, 1, wholeSite(t))
	wantSound(t, r, without)
	wantNothingRendered(t, r)
	appJS := page.URL("https://site.example/app.js")
	enlist(t, r, appJS)
	closeNow(t, r)

	r = reopened("auto") // the pages are there, and their scripts are not
	wantSound(t, r, digestOf(t, r))
	if e := entryOf(t, r, appJS); e.ETag != "" || e.LastModified != "" {
		t.Errorf("the crawl would ask with %q and %q", e.ETag, e.LastModified)
	}
	load(t, r, 1, wholeSite(t))
	wantSound(t, r, with)
	closeNow(t, r)

	r = reopened("all") // adds the plain page, which has the same text then
	wantSound(t, r, digestOf(t, r))
	if f := formOf(t, r, "https://site.example/plain"); f == nil {
		t.Error("the plain page was not rendered")
	}
	closeNow(t, r)
	r = reopened("auto")
	wantSound(t, r, with)
	if n := runs(r); n == 0 {
		t.Error("no observer has run")
	}
	closeNow(t, r)
	r = reopened("")
	if n := runs(r); n != 0 {
		t.Errorf("%d runs of observers after the second opening", n)
	}
	wantSound(t, r, with)
	write(t, r, schema.RenderOffSoon.Write) // as a crash leaves it
	closeNow(t, r)

	r = reopened("")
	wantSound(t, r, without)
	wantNothingRendered(t, r)
	write(t, r, schema.RenderAutoSoon.Write)
	closeNow(t, r)
	r = reopened("")
	load(t, r, 2, wholeSite(t))
	wantSound(t, r, with)
	closeNow(t, r)
	r = reopened("off")
	wantSound(t, r, without)
	wantNothingRendered(t, r)
	closeNow(t, r)
	if _, err := repository.Open(t.Context(), dir, repository.Options{Render: "some"}); err == nil {
		t.Error("the setting \"some\" was accepted")
	}
}

func formOf(t *testing.T, r *repository.Repository, u page.URL) *schema.StoredForm {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	f, err := observers.FormOf(t.Context(), tx, u)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantNothingRendered wants a table without anything that rendering stores.
func wantNothingRendered(t *testing.T, r *repository.Repository) {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, group := range []string{schema.GroupRender, schema.GroupShot, schema.GroupNeed} {
		if err := tx.Scan(t.Context(), group, "", "", func(row string, _ []txn.Version) error {
			t.Errorf("%s has the row %q", group, row)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	err = tx.Scan(t.Context(), schema.GroupBody, "", "", func(row string, cols []txn.Version) error {
		isResource := !strings.HasSuffix(row, "/") && strings.Contains(row[strings.LastIndex(row, "/"):], ".")
		for _, c := range cols {
			if isResource && c.Name == schema.Body.Name { // an image may also be kept as an icon
				t.Errorf("the body of %s is kept", row)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// failingBrowser is a browser that fails.
type failingBrowser struct{ siteBrowser }

func (failingBrowser) Render(context.Context, *page.Fetch, observers.Lookup) (*observers.Rendering, error) {
	return nil, errors.New("it has died")
}

// TestBrowserFails: a browser that fails leaves pages as they were fetched, without dead
// letters, and the next opening tries again.
func TestBrowserFails(t *testing.T) {
	with, without := renderedDigest(t), undisturbed(t, wholeSite(t))
	dir := t.TempDir()
	r := open(t, dir, repository.Options{Render: "auto", Renderer: failingBrowser{}})
	load(t, r, 2, wholeSite(t))
	wantSound(t, r, without)
	closeNow(t, r)
	r = open(t, dir, repository.Options{Renderer: siteBrowser{}})
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, with)
	closeNow(t, r)
}

// slowAtFirst is a browser in which attempts at a page fail in a way that may be the machine's
// fault.
type slowAtFirst struct {
	siteBrowser
	failures int

	mu    sync.Mutex
	tried map[page.URL]int
}

func (s *slowAtFirst) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	r, err := s.siteBrowser.Render(ctx, f, lookup)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried == nil {
		s.tried = make(map[page.URL]int)
	}
	if s.tried[f.URL]++; err == nil && s.tried[f.URL] <= s.failures {
		return &observers.Rendering{Failure: "it took too long", MayPass: true, Requests: r.Requests}, nil
	}
	return r, err
}

// TestFailureThatMayPass: a page that took too long is tried three times. Then the failure is
// stored, with what the page asked for, and the next opening does not try again.
func TestFailureThatMayPass(t *testing.T) {
	with, without := renderedDigest(t), undisturbed(t, wholeSite(t))
	r := open(t, t.TempDir(), repository.Options{Render: "auto", Renderer: &slowAtFirst{failures: 2}})
	load(t, r, 2, wholeSite(t))
	wantSound(t, r, with)
	closeNow(t, r)

	dir := t.TempDir()
	r = open(t, dir, repository.Options{Render: "auto", Renderer: &slowAtFirst{failures: math.MaxInt}})
	load(t, r, 2, wholeSite(t))
	wantSound(t, r, without)
	closeNow(t, r)
	again := &counted{Renderer: siteBrowser{}}
	r = open(t, dir, repository.Options{Renderer: again})
	defer closeNow(t, r)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	again.want(t)
	if f := formOf(t, r, siteHome); f == nil || f.Failure != "it took too long" || len(f.Inputs) == 0 {
		t.Errorf("stored is %+v", f)
	}
}

// TestWithoutBrowser: without a browser the index is that of a repository that never rendered,
// the number of pages is logged once, and the next opening with a browser renders them.
func TestWithoutBrowser(t *testing.T) {
	with, without := renderedDigest(t), undisturbed(t, wholeSite(t))
	dir := t.TempDir()
	core, logs := observer.New(zap.WarnLevel)
	r := open(t, dir, repository.Options{Render: "auto", Log: zap.New(core)})
	load(t, r, 2, wholeSite(t))
	wantSound(t, r, without)
	if f := formOf(t, r, siteHome); f == nil || f.Failure != schema.NoBrowser {
		t.Errorf("form %+v, want the reason %q", f, schema.NoBrowser)
	}
	closeNow(t, r)
	if said := logs.FilterMessageSnippet("no browser was found").All(); len(said) != 1 || said[0].ContextMap()["pages"] != int64(3) {
		t.Errorf("warnings %v, want one about 3 pages", said)
	}

	r = open(t, dir, repository.Options{Renderer: siteBrowser{}})
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, with)
	closeNow(t, r)

	r = open(t, dir, repository.Options{}) // the forms stay while nothing changes
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, with)
	closeNow(t, r)
}

// requestingBrowser is a browser in which a page asks for as many URLs as its body says, under the
// directory that it names: "dir 500".
type requestingBrowser struct{}

func (requestingBrowser) Version() uint64 { return 1 }

func (requestingBrowser) Render(_ context.Context, f *page.Fetch, _ observers.Lookup) (*observers.Rendering, error) {
	var dir string
	var n int
	if _, err := fmt.Sscanf(string(f.Body), "%s %d", &dir, &n); err != nil {
		return nil, err
	}
	r := &observers.Rendering{HTML: f.Body}
	for i := range n {
		r.Requests = append(r.Requests, page.MustParseURL(fmt.Sprintf("https://site.example/%s/%d", dir, i)))
	}
	return r, nil
}

// TestManyRequests: a page that asks for as much as it may, and then for as much of other
// things, and for too much.
func TestManyRequests(t *testing.T) {
	r := open(t, t.TempDir(), repository.Options{Render: "all", Renderer: requestingBrowser{}})
	defer closeNow(t, r)
	for i, body := range []string{"a 500", "b 500", "b 3", "c 501"} {
		f := siteFetches(t, 1, "index.html")[0]
		f.Time, f.Body = f.Time.AddDate(0, 0, i), []byte(body)
		load(t, r, 1, []page.Fetch{f})
		wantSound(t, r, digestOf(t, r))
		form := formOf(t, r, siteHome)
		if tooMany := body == "c 501"; form == nil || len(form.Stale) > 0 || (form.Failure != "") != tooMany || tooMany && len(form.Inputs) != 500 {
			t.Errorf("%s: %+v", body, form)
		}
	}
}
