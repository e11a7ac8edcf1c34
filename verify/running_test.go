package verify_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/verify"
)

// TestWhileLoading verifies again and again while fetches are loaded and
// observers run: at no moment may anything differ.
func TestWhileLoading(t *testing.T) {
	rounds, urls := 6, 150
	if testing.Short() {
		rounds, urls = 3, 60
	}
	random := rand.New(rand.NewPCG(1, 0))
	web := webtest.RandomWeb(random, urls)
	web.URLs, web.Fetches = urls, 40*urls
	fetches := web.Make(random)
	r, err := repository.Open(t.Context(), t.TempDir(), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	var verified atomic.Bool
	loaded := make(chan struct{}, 1000)
	g, failed := errgroup.WithContext(t.Context())
	for part := range 2 {
		g.Go(func() error { return loadUntil(r, fetches, part, &verified, loaded) })
	}
	stop := func() {
		verified.Store(true)
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}
	defer stop()
	checked := 0
	for range rounds {
		for range 50 {
			select {
			case <-loaded:
			case <-failed.Done():
				return // stop says why
			}
		}
		rep, err := verify.Run(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range rep.Differences {
			t.Error(d)
		}
		checked += rep.Checked["urls"]
		t.Logf("verified %v", rep.Checked)
	}
	if checked == 0 {
		t.Error("nothing was verified")
	}
}

// loadUntil loads every second fetch, and when all are loaded all again, until
// told to stop.
func loadUntil(r *repository.Repository, fetches []*page.Fetch, from int, stop *atomic.Bool, loaded chan<- struct{}) error {
	for i := from; !stop.Load(); i += 2 {
		if _, err := r.Load(context.Background(), fetches[i%len(fetches)]); err != nil {
			return err
		}
		select {
		case loaded <- struct{}{}:
		default: // more than enough
		}
	}
	return nil
}
