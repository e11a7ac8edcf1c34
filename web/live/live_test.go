package live_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/assets"
	"github.com/webindexer/indexer/web/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is a repository with a frontier of the test's.
type watched struct {
	*repository.Repository
	frontier *live.Frontier
}

func (w watched) Frontier(context.Context, int) (*live.Frontier, error) { return w.frontier, nil }

// openRepository is closed with the test.
func openRepository(t testing.TB) *repository.Repository {
	t.Helper()
	r, err := repository.Open(t.Context(), t.TempDir(), repository.Options{Collect: true})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	return r
}

// watch serves a source, with what pages need from package assets.
func watch(t testing.TB, source live.Source, opts live.Options) (*live.Live, *httptest.Server) {
	t.Helper()
	l, err := live.New(source, opts)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", l.Handler())
	mux.Handle(assets.Prefix, assets.Handler())
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		l.Close()
	})
	return l, server
}

// load loads pages with a number in them.
func load(t testing.TB, r *repository.Repository, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		f := &page.Fetch{
			URL: page.MustParseURL(fmt.Sprintf("https://a.example/%d", i)), Time: time.Now(), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
			Body: fmt.Appendf(nil, "<title>Page %d</title><p>%s<a href=/%d>next</a><a href=/%d>jump</a>", i, strings.Repeat(fmt.Sprintf("word%d ", i), 40), i+1, i*7%1000),
		}
		if _, err := r.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}
