package repository_test

import (
	"reflect"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// statsOf returns the counts of a repository at rest, and checks them against a scan and
// that they are kept from now on.
func statsOf(t *testing.T, r *repository.Repository) counts.Counts {
	t.Helper()
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := r.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !r.KeepsCounts() {
		t.Error("the counts are not kept")
	}
	tx := r.DB().At(r.DB().LastTimestamp())
	defer tx.Rollback()
	scanned, err := counts.Read(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Counts, scanned) {
		t.Errorf("stats %+v, a scan %+v", s.Counts, scanned)
	}
	return s.Counts
}

// TestKeptCounts: counts are kept until the next commit, even from one process to the next,
// but not across a kill.
func TestKeptCounts(t *testing.T) {
	dir, _ := filled(t)
	r := open(t, dir, repository.Options{})
	if r.KeepsCounts() {
		t.Error("counts are kept that nobody has asked for")
	}
	first := statsOf(t, r)
	if first.Pages == 0 || first.Links == 0 || first.Clusters == 0 || first.Ranks.Edges == 0 {
		t.Fatalf("nothing was counted: %+v", first)
	}
	closeNow(t, r)

	r = open(t, dir, repository.Options{})
	if !r.KeepsCounts() {
		t.Error("the counts are lost")
	}
	if again := statsOf(t, r); !reflect.DeepEqual(again, first) {
		t.Errorf("stats %+v, before %+v", again, first)
	}
	rep, err := verify.Run(t.Context(), r)
	if err != nil || rep.Total > 0 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	r.FalsifyCounts()
	if rep, err = verify.Run(t.Context(), r); err != nil || rep.Total != 1 || rep.Differences[0].Table != "counts" {
		t.Errorf("verify of counts that are wrong: %+v, %v", rep, err)
	}

	extra := mustReadWeb(t, ownWebs)[0]
	extra.URL = page.URL(string(extra.URL) + "?another")
	load(t, r, 1, []page.Fetch{extra})
	if r.KeepsCounts() {
		t.Error("counts are kept although a fetch was loaded")
	}
	second := statsOf(t, r)
	if second.URLs == first.URLs {
		t.Errorf("stats %+v with one more URL", second)
	}
	extra.URL += "&more"
	load(t, r, 1, []page.Fetch{extra})
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeNow(t, r)

	r = open(t, dir, repository.Options{})
	if r.KeepsCounts() || !r.CachesCounts() {
		t.Errorf("a fetch was loaded after the last count: counts kept %t, cached %t", r.KeepsCounts(), r.CachesCounts())
	}
	if now := statsOf(t, r); now.URLs == second.URLs {
		t.Errorf("stats %+v with one more URL", now)
	}
	closeNow(t, r)

	killAt(t, dir, "", txn.Auto, moment{saysOpened, 1})
	r = open(t, dir, repository.Options{})
	if r.KeepsCounts() || r.CachesCounts() {
		t.Error("counts are kept across a kill")
	}
	statsOf(t, r)
	closeNow(t, r)
}
