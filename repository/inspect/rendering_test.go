package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

// dataRenderer renders the pages of this test: the text is what /data.json says.
type dataRenderer struct{}

func (dataRenderer) Version() uint64 { return 3 }

func (dataRenderer) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	if strings.Contains(string(f.Body), "endless") {
		return &observers.Rendering{Failure: "its scripts do not end"}, nil
	}
	r := &observers.Rendering{Requests: []page.URL{"https://a.example/data.json", "https://cdn.example/never.js"}, Console: []string{"x is not defined"}}
	data, err := lookup(ctx, r.Requests[0])
	if err != nil {
		return nil, err
	}
	text := ""
	if data != nil {
		text = string(data.Body)
	}
	r.HTML = fmt.Appendf(nil, `<title>Shop</title><link rel=canonical href="https://a.example/shop"><meta name=robots content=nofollow><p>%s`, text)
	r.Screenshot, r.Thumbnail = []byte("picture of "+text), []byte("small")
	return r, nil
}

const app = `<title>Loading</title><div id=root></div><script src=/app.js></script>`

// renderRig is a repository that is opened with several settings of rendering, one after another.
type renderRig struct {
	t    *testing.T
	dir  string
	repo *repository.Repository
	at   int64 // the time of the last fetch, in Unix seconds
}

func (r *renderRig) open(renderer observers.Renderer, mode string) {
	r.t.Helper()
	var err error
	r.repo, err = repository.Open(r.t.Context(), r.dir, repository.Options{Render: mode, Renderer: renderer, History: time.Hour})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.repo.Quiesce(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *renderRig) close() {
	r.t.Helper()
	if err := r.repo.Close(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *renderRig) load(u page.URL, mediaType, body string) {
	r.t.Helper()
	r.at++
	f := &page.Fetch{URL: u, Time: time.Unix(r.at, 0), Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: []byte(body)}
	if _, err := r.repo.Load(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
	if err := r.repo.Quiesce(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *renderRig) look(u page.URL) *inspect.Inspection {
	r.t.Helper()
	i, err := inspect.URL(r.t.Context(), r.repo, u, inspect.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return i
}

// TestRendering looks at a page while rendering is off, while there is no browser, and once it is
// rendered, and then at other pages and a resource.
func TestRendering(t *testing.T) {
	r := &renderRig{t: t, dir: t.TempDir()}
	r.open(nil, "")
	r.load("https://a.example/", "text/html", app)
	if i := r.look("https://a.example/"); i.Rendering != nil || i.NeededBy != nil {
		t.Errorf("rendering is off, and the page has %+v", i.Rendering)
	}
	if _, err := inspect.Pictured(t.Context(), r.repo.DB(), []page.URL{"https://a.example/"}); !errors.Is(err, inspect.ErrNotRendering) {
		t.Errorf("rendering is off, and the look for pictures says %v", err)
	}
	r.close()

	r.open(nil, "auto")
	if i := r.look("https://a.example/").Rendering; i.State != inspect.StateNotRendered || !i.Qualifies || !strings.Contains(i.Reason, "no browser was found") {
		t.Errorf("without a browser: %+v", i)
	}
	r.close()

	r.open(dataRenderer{}, "")
	defer r.close()
	r.load("https://a.example/data.json", "application/json", "Lamps and wicks")
	r.load("https://a.example/long", "text/html", "<title>Long</title><p>"+strings.Repeat("Many words that are in the page itself. ", 50))
	r.load("https://a.example/endless", "text/html", app+"<!--endless-->")
	r.checkRendered(r.look("https://a.example/"))
	if i := r.look("https://a.example/long").Rendering; i.Qualifies || i.State != inspect.StateNotRendered || i.Rendered != nil {
		t.Errorf("a page with text of its own: %+v", i)
	}
	if i := r.look("https://a.example/endless").Rendering; i.State != inspect.StateNotRendered || i.Reason != "its scripts do not end" {
		t.Errorf("a page that cannot be rendered: %+v", i)
	}
	if i := r.look("https://a.example/data.json"); fmt.Sprint(i.NeededBy) != "[https://a.example/]" || i.Rendering != nil {
		t.Errorf("the resource is needed by %v, and has %+v", i.NeededBy, i.Rendering)
	}
	r.checkPictures()
}

func (r *renderRig) checkRendered(got *inspect.Inspection) {
	r.t.Helper()
	want := &inspect.Rendering{
		Setting: "auto", Qualifies: true, Why: got.Rendering.Why, State: inspect.StateRendered,
		Raw:      &inspect.Reading{Title: "Loading"},
		Rendered: &inspect.Reading{Title: "Shop", Characters: 15, Canonical: "https://a.example/shop", NoFollow: true},
		Resources: []inspect.Resource{
			{URL: "https://a.example/data.json", State: inspect.ResourceUsed, Status: 200, Type: "application/json"},
			{URL: "https://cdn.example/never.js", State: inspect.ResourceMissing},
		},
		Console: []string{"x is not defined"}, Screenshot: len("picture of Lamps and wicks"),
	}
	// Without a browser, without the data, and with them.
	versions := got.Rendering.Versions
	if len(versions) != 3 || fmt.Sprint(versions[0].Changed) != "[https://a.example/data.json]" || len(versions[1].Changed) != 0 || !versions[2].Readable {
		r.t.Errorf("renderings %+v", versions)
	}
	got.Rendering.Versions = nil
	if !reflect.DeepEqual(got.Rendering, want) || got.Title != "Shop" {
		r.t.Errorf("got  %+v\nwant %+v", got.Rendering, want)
	}
}

// checkPictures changes the data, and compares the pictures and texts of both times.
func (r *renderRig) checkPictures() {
	t, ctx, repo := r.t, r.t.Context(), r.repo
	t.Helper()
	const u = page.URL("https://a.example/")
	before, err := repo.DB().Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.load("https://a.example/data.json", "application/json", "Horns for fog")
	for ts, want := range map[uint64]string{before: "Lamps and wicks", 0: "Horns for fog"} {
		image, err := inspect.Picture(ctx, repo.DB(), u, ts, false)
		if err != nil || string(image) != "picture of "+want {
			t.Errorf("at %d the picture is %q, %v", ts, image, err)
		}
		text, err := inspect.Text(ctx, repo.DB(), u, ts)
		if err != nil || *text != (inspect.PageText{Title: "Shop", Text: want, Rendered: true, Pictured: true}) {
			t.Errorf("at %d the text is %+v, %v", ts, text, err)
		}
	}
	if image, err := inspect.Picture(ctx, repo.DB(), u, 0, true); err != nil || string(image) != "small" {
		t.Errorf("the thumbnail is %q, %v", image, err)
	}
	for _, none := range []page.URL{"https://a.example/long", "https://unknown.example/"} {
		if _, err := inspect.Picture(ctx, repo.DB(), none, 0, false); !errors.Is(err, inspect.ErrNoPicture) {
			t.Errorf("the picture of %s: %v", none, err)
		}
	}
	if _, err := inspect.Text(ctx, repo.DB(), "https://a.example/data.json", 0); !errors.Is(err, inspect.ErrNoCopy) {
		t.Errorf("the text of a resource: %v", err)
	}
	list, err := inspect.Pictured(ctx, repo.DB(), []page.URL{"https://a.example/long", u, "https://unknown.example/"})
	if err != nil || fmt.Sprint(list) != "[https://a.example/]" {
		t.Errorf("with pictures: %v, %v", list, err)
	}
}
