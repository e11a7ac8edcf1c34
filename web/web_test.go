package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a server over a real repository.
type stand struct {
	t      testing.TB
	repo   *repository.Repository
	reader *index.Reader
	server *web.Server
	http   *httptest.Server
}

// newStand loads fetches and serves them on loopback.
func newStand(t testing.TB, fetches []page.Fetch, change func(*web.Options)) *stand {
	t.Helper()
	return newStandOf(t, repository.Options{Workers: 2, History: time.Hour}, fetches, change)
}

// newStandOf is newStand over a repository that is opened with options.
func newStandOf(t testing.TB, opts repository.Options, fetches []page.Fetch, change func(*web.Options)) *stand {
	t.Helper()
	s := &stand{t: t}
	dir := t.TempDir()
	var err error
	if s.repo, err = repository.Open(t.Context(), dir, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.repo.Close()) })
	s.load(fetches...)
	if s.reader, err = index.OpenReader(repository.IndexDir(dir)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.reader.Close()) })
	return s.beside(change)
}

// beside starts another server over the same repository.
func (s *stand) beside(change func(*web.Options)) *stand {
	s.t.Helper()
	o := web.Options{Search: s.reader, Inspect: web.Local{Repo: s.repo}, Log: zaptest.NewLogger(s.t)}
	if change != nil {
		change(&o)
	}
	other := *s
	var err error
	if other.server, err = web.New(o); err != nil {
		s.t.Fatal(err)
	}
	other.http = httptest.NewServer(other.server.Handler())
	other.http.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.t.Cleanup(other.http.Close)
	return &other
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// load loads fetches in order, and waits until they are searchable.
func (s *stand) load(fetches ...page.Fetch) {
	s.t.Helper()
	for i := range fetches {
		if _, err := s.repo.Load(s.t.Context(), &fetches[i]); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.repo.Quiesce(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request, which change may modify first.
func (s *stand) do(target string, change func(*http.Request)) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.http.URL+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	res, err := s.http.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	check(s.t, res.Body.Close())
	return answer{res.StatusCode, res.Header, string(body)}
}

// get sends a request that must succeed, and returns the body.
func (s *stand) get(target string) string {
	s.t.Helper()
	a := s.do(target, nil)
	if a.status != http.StatusOK {
		s.t.Fatalf("GET %s: status %d\n%s", target, a.status, a.body)
	}
	return a.body
}

// webs are the project's own small webs.
func webs(t testing.TB, names ...string) (fetches []page.Fetch) {
	t.Helper()
	for _, name := range names {
		site, err := sites.Load(filepath.Join("../testdata/sites", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, site.Fetches()...)
	}
	return fetches
}

// fetched is a fetch of HTML on the n-th day of 2026.
func fetched(url string, day int, html string) page.Fetch {
	return page.Fetch{
		URL: page.MustParseURL(url), Time: time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC), Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(html),
	}
}

// many returns a site whose front page links to n pages, so that lists have several pages.
func many(n int) []page.Fetch {
	var links, fetches = new(strings.Builder), []page.Fetch{}
	for i := range n {
		fmt.Fprintf(links, `<a href="/p/%d">leaf number %d</a> `, i, i)
		html := fmt.Sprintf(`<html lang="en"><title>Leaf %d of the great oak</title><p>A leaf that hangs on a branch, the %d-th one of them all. <a href="/">the trunk of the oak</a>`, i, i)
		fetches = append(fetches, fetched(fmt.Sprintf("https://oak.example/p/%d", i), 1, html))
	}
	front := `<html lang="en"><title>The great oak</title><p>All the leaves of an oak tree, in the order in which they fell: ` + links.String()
	return append(fetches, fetched("https://oak.example/", 1, front))
}

var _ web.Inspector = web.Local{}
