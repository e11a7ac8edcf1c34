package repository_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// The steps that most tests consist of.

func open(t testing.TB, dir string, opts repository.Options) *repository.Repository {
	t.Helper()
	r, err := repository.Open(context.Background(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closeNow(t testing.TB, r *repository.Repository) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// loadAll loads fetches with some loaders at once, which take them in order, and
// counts what came of them. after, if not nil, is called after each fetch.
func loadAll(ctx context.Context, r *repository.Repository, loaders int, fetches []page.Fetch, after func()) (map[loader.Effect]int, error) {
	return loadFrom(ctx, r, loaders, after, func(ctx context.Context, queue chan<- *page.Fetch) error {
		for i := range fetches {
			select {
			case queue <- &fetches[i]:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
}

// loadFrom is loadAll with fetches that are read meanwhile.
func loadFrom(ctx context.Context, r *repository.Repository, loaders int, after func(), read func(context.Context, chan<- *page.Fetch) error) (map[loader.Effect]int, error) {
	queue := make(chan *page.Fetch)
	var mu sync.Mutex
	count := make(map[loader.Effect]int)
	g, ctx := errgroup.WithContext(ctx)
	for range loaders {
		g.Go(func() error {
			for f := range queue {
				e, err := r.Load(ctx, f)
				if err != nil {
					return err
				}
				mu.Lock()
				count[e]++
				mu.Unlock()
				if after != nil {
					after()
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(queue)
		return read(ctx, queue)
	})
	err := g.Wait()
	return count, err
}

// load loads fetches and waits until all work is done.
func load(t testing.TB, r *repository.Repository, loaders int, fetches []page.Fetch) map[loader.Effect]int {
	t.Helper()
	effects, err := loadAll(context.Background(), r, loaders, fetches, nil)
	if err == nil {
		err = r.Quiesce(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return effects
}

func digestOf(t testing.TB, r *repository.Repository) string {
	t.Helper()
	res, err := r.Export(context.Background(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return res.Digest
}

// wantSound verifies the repository, and compares its digest.
func wantSound(t testing.TB, r *repository.Repository, digest string) {
	t.Helper()
	rep, err := verify.Run(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Checked["index_files"] == 0 {
		t.Error("verify found no document to check")
	}
	for i, d := range rep.Differences {
		if i == 10 {
			t.Errorf("and %d more", rep.Total-i)
			break
		}
		t.Error(d)
	}
	if got := digestOf(t, r); got != digest {
		t.Errorf("digest %s, want %s", got, digest)
	}
	if dead := r.Live().Dead; dead != 0 {
		t.Errorf("%d rows were given up on", dead)
	}
}

// undisturbed returns the digest of a web loaded one fetch after the other, by one
// worker, in one process.
func undisturbed(t testing.TB, fetches []page.Fetch) string {
	t.Helper()
	return undisturbedWith(t, repository.Options{}, fetches)
}

// undisturbedDigests are those that undisturbedWith has computed: many tests want that of the same
// web.
var undisturbedDigests = make(map[[sha256.Size]byte]string)

// undisturbedWith is undisturbed with other settings for rendering.
func undisturbedWith(t testing.TB, opts repository.Options, fetches []page.Fetch) string {
	t.Helper()
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, opts.Render) // to memory
	for _, f := range fetches {
		body := f.Body
		f.Body = nil
		_, _ = fmt.Fprintf(sum, "%+v %d %s\n", f, len(body), body) // to memory
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	if digest, ok := undisturbedDigests[key]; ok {
		return digest
	}
	opts.Workers = 1
	r := open(t, t.TempDir(), opts)
	defer closeNow(t, r)
	load(t, r, 1, fetches)
	digest := digestOf(t, r)
	wantSound(t, r, digest)
	undisturbedDigests[key] = digest
	return digest
}

// ownDigest returns the digest of the project's own webs, undisturbed.
func ownDigest(t testing.TB) string {
	t.Helper()
	return undisturbed(t, mustReadWeb(t, ownWebs))
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
