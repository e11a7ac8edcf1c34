package repository_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// rewritten returns a web some time later: every page says something else.
func rewritten(rng *rand.Rand, fetches []page.Fetch, round int) []page.Fetch {
	fetches = slices.Clone(fetches)
	for i := range fetches {
		f := &fetches[i]
		f.Time = f.Time.Add(time.Duration(round) * time.Hour)
		if f.Body == nil {
			continue
		}
		var words strings.Builder
		for range 400 {
			fmt.Fprintf(&words, " %x", rng.Uint32())
		}
		f.Body = append(slices.Clone(f.Body), fmt.Sprintf("<p>round %d%s</p>", round, words.String())...)
	}
	return fetches
}

// TestRewritten: what a repository takes on the disk follows what is in it,
// not what was. (INDEXER_LONG=1 rewrites it fifty times.)
func TestRewritten(t *testing.T) {
	rounds := testenv.Size(4, 4, 50)
	web := mustReadWeb(t, ownWebs)
	rng := testenv.Random(t)
	var last []page.Fetch
	dir := t.TempDir()
	r := open(t, dir, repository.Options{Collect: true})
	for round := range rounds {
		last = rewritten(rng, web, round)
		load(t, r, 4, last)
	}
	if n := removedDocuments(t, dir); n == 0 {
		t.Error("the index does not know which documents were removed")
	}
	freed := collect(t, r)
	if n := removedDocuments(t, dir); n > 0 {
		t.Errorf("the index still knows %d documents that were removed", n)
	}
	digest := digestOf(t, r)
	wantSound(t, r, digest)
	wantFit(t, r)
	closeNow(t, r)

	once := open(t, t.TempDir(), repository.Options{})
	load(t, once, 4, last)
	if got := digestOf(t, once); got != digest {
		t.Errorf("digest %s of the last round alone, %s after all of them", got, digest)
	}
	live := collect(t, once)
	closeNow(t, once)
	ratio := float64(freed.BytesAfter) / float64(live.BytesAfter)
	t.Logf("%d bytes before and %d after the collection of %d rounds, %d with the last alone: %.2f times", freed.BytesBefore, freed.BytesAfter, rounds, live.BytesAfter, ratio)
	if ratio > 2 {
		t.Errorf("%d rounds take %.2f times what the last one takes", rounds, ratio)
	}
}

// removedDocuments counts the documents that the index files know as removed.
func removedDocuments(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(repository.IndexDir(dir), "shard-000.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM tombstones").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func collect(t *testing.T, r *repository.Repository) *repository.Freed {
	t.Helper()
	f, err := r.Collect(context.Background(), quietly)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantFit checks the store.
func wantFit(t *testing.T, r *repository.Repository) {
	t.Helper()
	rep, err := r.Check(context.Background(), quietly)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		t.Error(p)
	}
	if rep.Checked.Records == 0 {
		t.Error("nothing was checked")
	}
}

// TestCollectedMeanwhile loads webs in random order, several times over, while the
// garbage of the whole repository is collected again and again, and its space
// reclaimed. The result is the same as without it.
func TestCollectedMeanwhile(t *testing.T) {
	for _, m := range []struct {
		name string
		mode txn.Mode
	}{{"onephase", txn.OnePhase}, {"twophase", txn.TwoPhase}} {
		t.Run(m.name, func(t *testing.T) {
			rng := testenv.Random(t)
			web := mustReadWeb(t, ownWebs)
			last := rewritten(rng, web, 100)
			digest := undisturbed(t, last)
			dir := t.TempDir()
			rounds := testenv.Size(2, 2, 5)
			for round := range rounds {
				r := open(t, dir, repository.Options{Commit: m.mode, Collect: true})
				fetches := last
				if round < rounds-1 {
					fetches = rewritten(rng, web, round)
				}
				stop := collectAllTheTime(t, r)
				load(t, r, 4, shuffled(rng, fetches))
				stop()
				wantFit(t, r)
				if round == rounds-1 {
					wantSound(t, r, digest)
					collect(t, r)
					wantSound(t, r, digest)
					wantFit(t, r)
				}
				closeNow(t, r)
			}
		})
	}
}

// TestCollectorSeesTheEnd: the collector also takes the old versions of what Close writes last, so
// a store does not grow by being opened and closed.
func TestCollectorSeesTheEnd(t *testing.T) {
	web := mustReadWeb(t, ownWebs)
	dir := t.TempDir()
	for i := range 4 {
		r := open(t, dir, repository.Options{Collect: true})
		load(t, r, 4, web[i:i+1])
		closeNow(t, r)
	}
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	versions := make(map[txn.Cell]int)
	err := r.DB().Records(t.Context(), schema.GroupApp, "", "", func(rec txn.Record) error {
		if rec.Kind == txn.KindWrite {
			versions[rec.Cell]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for cell, n := range versions {
		if n > 1 {
			t.Errorf("%d versions of %v", n, cell)
		}
	}
}

func collectAllTheTime(t *testing.T, r *repository.Repository) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	n := 0
	work.Go(func() {
		for ctx.Err() == nil {
			if _, err := r.Collect(ctx, quietly); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
				return
			}
			n++
		}
	})
	return func() {
		cancel()
		work.Wait()
		t.Logf("collected %d times", n)
	}
}

// quietly reports no progress.
func quietly(string, ...any) {}
