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

func TestRendering(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	open := func(r observers.Renderer, mode string) *repository.Repository {
		t.Helper()
		repo, err := repository.Open(ctx, dir, repository.Options{Render: mode, Renderer: r, History: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.Quiesce(ctx); err != nil {
			t.Fatal(err)
		}
		return repo
	}
	at := int64(0)
	load := func(r *repository.Repository, u page.URL, mediaType, body string) {
		t.Helper()
		at++
		if _, err := r.Load(ctx, &page.Fetch{URL: u, Time: time.Unix(at, 0), Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		if err := r.Quiesce(ctx); err != nil {
			t.Fatal(err)
		}
	}
	look := func(r *repository.Repository, u page.URL) *inspect.Inspection {
		t.Helper()
		i, err := inspect.URL(ctx, r, u, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}

	repo := open(nil, "")
	load(repo, "https://a.example/", "text/html", app)
	if i := look(repo, "https://a.example/"); i.Rendering != nil || i.NeededBy != nil {
		t.Errorf("rendering is off, and the page has %+v", i.Rendering)
	}
	if _, err := inspect.Pictured(ctx, repo.DB(), []page.URL{"https://a.example/"}); !errors.Is(err, inspect.ErrNotRendering) {
		t.Errorf("rendering is off, and the look for pictures says %v", err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}

	repo = open(nil, "auto")
	if i := look(repo, "https://a.example/").Rendering; i.State != inspect.StateNotRendered || !i.Qualifies || !strings.Contains(i.Reason, "no browser was found") {
		t.Errorf("without a browser: %+v", i)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}

	repo = open(dataRenderer{}, "")
	defer func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}()
	load(repo, "https://a.example/data.json", "application/json", "Lamps and wicks")
	load(repo, "https://a.example/long", "text/html", "<title>Long</title><p>"+strings.Repeat("Many words that are in the page itself. ", 50))
	load(repo, "https://a.example/endless", "text/html", app+"<!--endless-->")
	got := look(repo, "https://a.example/")
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
		t.Errorf("renderings %+v", versions)
	}
	got.Rendering.Versions = nil
	if !reflect.DeepEqual(got.Rendering, want) || got.Title != "Shop" {
		t.Errorf("got  %+v\nwant %+v", got.Rendering, want)
	}
	if r := look(repo, "https://a.example/long").Rendering; r.Qualifies || r.State != inspect.StateNotRendered || r.Rendered != nil {
		t.Errorf("a page with text of its own: %+v", r)
	}
	if r := look(repo, "https://a.example/endless").Rendering; r.State != inspect.StateNotRendered || r.Reason != "its scripts do not end" {
		t.Errorf("a page that cannot be rendered: %+v", r)
	}
	if i := look(repo, "https://a.example/data.json"); fmt.Sprint(i.NeededBy) != "[https://a.example/]" || i.Rendering != nil {
		t.Errorf("the resource is needed by %v, and has %+v", i.NeededBy, i.Rendering)
	}
	pictures(t, repo, load)
}

// pictures changes the data, and compares the pictures and texts of both times.
func pictures(t *testing.T, repo *repository.Repository, load func(*repository.Repository, page.URL, string, string)) {
	t.Helper()
	ctx := t.Context()
	const u = page.URL("https://a.example/")
	before, err := repo.DB().Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	load(repo, "https://a.example/data.json", "application/json", "Horns for fog")
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
