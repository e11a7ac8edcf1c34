package repository_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// What a directory has may be within the tolerance it was made for and not within
// another one. These tests change it between two loads.

// contributor returns a page with twenty links, one of them to a hub: it gives it little
// enough that a coarse tolerance does not feel it.
func contributor(i, at int, hub string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "c.example/%d at=%d page text=c%d link=a.example/%s,", i, at, i, hub)
	for k := range 19 {
		fmt.Fprintf(&b, " link=f.example/%d,", k)
	}
	return b.String()
}

func fetchesOf(t *testing.T, lines ...string) []page.Fetch {
	t.Helper()
	fetches := make([]page.Fetch, len(lines))
	for i, line := range lines {
		f, err := webtest.ParseFetch(line)
		if err != nil {
			t.Fatal(err)
		}
		fetches[i] = *f
	}
	return fetches
}

// rivalry returns a cluster of m, which is preferred, and mm, with hubs of n and 120
// contributors: m is at 0.994 of mm with 119 of them, and at 0.988 with 118.
func rivalry(n int) []string {
	lines := []string{"a.example/m at=1 page text=same", "a.example/mm at=1 page text=same",
		"a.example/h at=1 page text=h link=a.example/m,", "a.example/hh at=1 page text=hh link=a.example/mm,"}
	for i := range n {
		lines = append(lines, contributor(i, 2, "h"))
	}
	for i := range 120 {
		lines = append(lines, contributor(1000+i, 2, "hh"))
	}
	return lines
}

// TestCoarserToleranceContests: what was no question at a fine tolerance is one at a
// coarse one, where changes that decide it are too small to be published.
func TestCoarserToleranceContests(t *testing.T) {
	dir := t.TempDir()
	before, gone := fetchesOf(t, rivalry(119)...), fetchesOf(t, "c.example/118 at=3 gone")
	r := open(t, dir, repository.Options{RankTolerance: 1e-4})
	load(t, r, 1, before)
	if i := inspected(t, r, "https://a.example/mm"); i.Canonical != "https://a.example/m" {
		t.Errorf("at first %s is shown", i.Canonical)
	}
	closeNow(t, r)
	r = open(t, dir, repository.Options{RankTolerance: 0.1})
	defer closeNow(t, r)
	load(t, r, 1, gone)
	if i := inspected(t, r, "https://a.example/mm"); i.Canonical != "https://a.example/mm" {
		t.Errorf("then %s is shown", i.Canonical)
	}
	wantSound(t, r, undisturbed(t, append(before, gone...)))
}

// coarseRanks makes a repository whose ranks have a large tolerance, with many links to a URL that
// was not fetched, and returns its directory.
func coarseRanks(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := open(t, dir, repository.Options{RankTolerance: 0.1})
	for i := range 61 {
		load(t, r, 1, fetchesOf(t, contributor(i, 1, "never-fetched")))
	}
	if s := solve(t, r); s.GreatestError < 0.001 {
		t.Fatalf("nothing to bring nearer: the greatest error is %g", s.GreatestError)
	}
	closeNow(t, r)
	return dir
}

// TestFinerToleranceOfTheUnfetched: the ranks of URLs that were not fetched also come
// nearer. Their sources are exact, and have nothing to pass on.
func TestFinerToleranceOfTheUnfetched(t *testing.T) {
	dir := coarseRanks(t)
	r := open(t, dir, repository.Options{RankTolerance: 0.001})
	defer closeNow(t, r)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := solve(t, r); s.GreatestError > 0.001 {
		t.Errorf("the greatest error is %g", s.GreatestError)
	}
	mustVerify(t, r)
}

func solve(t *testing.T, r *repository.Repository) *repository.FullSolve {
	t.Helper()
	s, err := r.SolveRanks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFinerToleranceOfTheJournal: a process was killed after a run of rank and before its
// journal came to the rows. What is only in the journal also comes nearer.
func TestFinerToleranceOfTheJournal(t *testing.T) {
	dir := coarseRanks(t)
	backToJournal(t, dir, schema.URLRow("https://a.example/never-fetched"))
	r := open(t, dir, repository.Options{RankTolerance: 0.001})
	defer closeNow(t, r)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, r)
}

// backToJournal undoes what post did of a journal with one new URL.
func backToJournal(t *testing.T, dir, row string) {
	t.Helper()
	table, err := badgerdb.Open(repository.StoreDir(dir), txn.Groups(schema.Groups()...), badgerdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := observers.Options{}.Registry() // for the names: nothing is run
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(t.Context(), table, txn.Options{Observers: registry.Observers})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Run(t.Context(), func(tx *txn.Txn) error {
		v, err := tx.Get(t.Context(), row, schema.RankState)
		if err != nil {
			return err
		}
		m, err := schema.DecodeRankState(v.Data)
		tx.Delete(row, schema.RankState)
		tx.Set(schema.JournalRow(0), schema.RankPart, schema.EncodeRankPart([]schema.RankChange{{Row: row, State: m}}))
		tx.Set(schema.AppRow, schema.RankJournal, schema.StoredJournal{Parts: 1}.Encode())
		tx.Notify(schema.AppRow, schema.Push)
		return err
	})
	if err := errors.Join(err, db.Close(), table.Close()); err != nil {
		t.Fatal(err)
	}
}
