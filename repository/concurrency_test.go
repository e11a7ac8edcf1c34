package repository_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// versions are n fetches of https://one.example/, a second apart; the last one counts.
func versions(n int) []page.Fetch {
	list := make([]page.Fetch, n)
	for i := range list {
		list[i] = page.Fetch{
			URL: "https://one.example/", Time: time.Date(2024, 3, 1, 0, 0, i, 0, time.UTC), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
			Body: fmt.Appendf(nil, "<title>Version %d</title><p>This is what the page said at second %d%s"+
				"<p>See <a href=/v%d>the page of that second</a>.", i, i, strings.Repeat(" and ever after", 8), i%7),
		}
	}
	return list
}

// TestManyFetchesOfOneURL loads many fetches of one URL from 16 goroutines: the newest
// decides, whatever the order.
func TestManyFetchesOfOneURL(t *testing.T) {
	rnd := testenv.Random(t)
	fetches := versions(160)
	want := undisturbed(t, fetches)
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		t.Run(modeName(mode), func(t *testing.T) {
			r := open(t, t.TempDir(), repository.Options{Commit: mode, Workers: 8})
			defer closeNow(t, r)
			load(t, r, 16, shuffled(rnd, fetches))
			i, err := inspect.URL(context.Background(), r, "https://one.example/", inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if title := "Version 159"; i.Title != title || !i.Indexed || i.Pending != 0 {
				t.Errorf("title %q, indexed %t, %d pending; want %q, indexed", i.Title, i.Indexed, i.Pending, title)
			}
			wantSound(t, r, want)
		})
	}
}

// TestReadersWhileLoading exports, verifies, inspects and counts again and again
// while a web is loaded: verify never finds a difference, and no call waits for ever.
func TestReadersWhileLoading(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	want := ownDigest(t)
	rnd := testenv.Random(t)
	r := open(t, t.TempDir(), repository.Options{Backlog: 20})
	defer closeNow(t, r)
	loaded := make(chan struct{})
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error {
		defer close(loaded)
		for range testenv.Size(1, 2, 3) {
			if _, err := loadAll(ctx, r, 4, shuffled(rnd, fetches), nil); err != nil {
				return err
			}
		}
		return nil
	})
	var mu sync.Mutex
	rounds := make(map[string]int)
	for name, read := range readers(r, fetches) {
		g.Go(func() error {
			for {
				if err := read(ctx); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				mu.Lock()
				rounds[name]++
				mu.Unlock()
				select {
				case <-loaded:
					return nil
				default:
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("rounds: %v", rounds)
	wantSound(t, r, want)
}

func readers(r *repository.Repository, fetches []page.Fetch) map[string]func(context.Context) error {
	urls := make([]page.URL, len(fetches))
	for i := range fetches {
		urls[i] = fetches[i].URL
	}
	slices.Sort(urls)
	urls = slices.Compact(urls)
	next := 0
	return map[string]func(context.Context) error{
		"verify": func(ctx context.Context) error {
			rep, err := verify.Run(ctx, r)
			if err == nil && rep.Total > 0 {
				err = fmt.Errorf("%d differences, the first: %v", rep.Total, rep.Differences[0])
			}
			return err
		},
		"export": func(ctx context.Context) error { _, err := r.Export(ctx, io.Discard); return err },
		"stats":  func(ctx context.Context) error { _, err := r.Stats(ctx); return err },
		"inspect": func(ctx context.Context) error {
			next = (next + 1) % len(urls)
			_, err := inspect.URL(ctx, r, urls[next], inspect.Options{})
			return err
		},
	}
}

// TestQuietDoesNotHoldOthersUp: while a caller reads at a quiet moment, fetches are
// loaded and indexed, and other callers find quiet moments of their own. The first one
// still reads the same state.
func TestQuietDoesNotHoldOthersUp(t *testing.T) {
	ctx := context.Background()
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	all := versions(4)
	load(t, r, 1, all[:2])
	q, err := r.Quiet(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	load(t, r, 1, all[2:]) // would wait for ever for q
	later, err := r.Quiet(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	for _, c := range []struct {
		q    *repository.Quiet
		want string
	}{{q, "Version 1"}, {later, "Version 3"}} {
		if got := shownTitle(t, c.q); got != c.want {
			t.Errorf("the index shows %q at a quiet moment, want %q", got, c.want)
		}
	}
}

// filesView is what index files can do besides being compared.
type filesView interface {
	Document(ctx context.Context, url string) (index.Document, bool, error)
	Search(ctx context.Context, query string, opts search.Options) (*search.Results, error)
}

// shownTitle returns the title of the page in the index files; the repository's must be
// the same.
func shownTitle(t *testing.T, q *repository.Quiet) string {
	t.Helper()
	const u = page.URL("https://one.example/")
	d, found, err := q.Index.(filesView).Document(context.Background(), string(u))
	if err != nil || !found {
		t.Fatalf("document of %s: found %t, %v", u, found, err)
	}
	stored, err := observers.TextOf(context.Background(), q.Tx, u)
	if err != nil {
		t.Fatal(err)
	}
	if stored.Title != d.Title {
		t.Errorf("the repository has the title %q, the index files %q", stored.Title, d.Title)
	}
	return d.Title
}
