package repository_test

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// rowsRun returns how many rows each observer was run on since the repository was opened.
func rowsRun(r *repository.Repository) map[string]int64 {
	rows := make(map[string]int64)
	for _, o := range r.Live().Observers {
		rows[o.Observer] = o.Rows
	}
	return rows
}

// TestUnchangedReplay loads the same fetches again: none of them is written, and
// no observer wakes.
func TestUnchangedReplay(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 4, fetches)
	want, before := digestOf(t, r), rowsRun(r)
	effects := load(t, r, 4, fetches)
	if !maps.Equal(effects, map[loader.Effect]int{loader.Late: len(fetches)}) {
		t.Errorf("the same fetches again were %v, want %d late ones", effects, len(fetches))
	}
	if after := rowsRun(r); !maps.Equal(before, after) {
		t.Errorf("rows run before: %v, after the same fetches again: %v", before, after)
	}
	wantSound(t, r, want)
}

// aYearLater returns the same fetches, made a year later.
func aYearLater(fetches []page.Fetch) []page.Fetch {
	later := slices.Clone(fetches)
	for i := range later {
		later[i].Time = later[i].Time.AddDate(1, 0, 0)
	}
	return later
}

// TestUnchangedPages fetches every page again a year later, unchanged. Only times move, and
// only the observer that brings them to the index files runs, once for each page.
func TestUnchangedPages(t *testing.T) {
	fetches := newest(mustReadWeb(t, ownWebs))
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 4, fetches)
	want, before := digestOf(t, r), rowsRun(r)
	fetches = aYearLater(fetches)
	effects := load(t, r, 4, fetches)
	if !maps.Equal(effects, map[loader.Effect]int{loader.Renewed: len(fetches)}) {
		t.Errorf("unchanged pages were %v, want %d renewed ones", effects, len(fetches))
	}
	before["refresh"] += int64(len(fetches))
	if after := rowsRun(r); !maps.Equal(before, after) {
		t.Errorf("rows run: %v after all was found unchanged, want %v", after, before)
	}
	wantSound(t, r, want)
	wantTimes(t, r, fetches)
}

// TestKilledAfterRenewal kills a process that has fetched every page again, a year later
// and unchanged, as soon as the last fetch is stored. The next process brings the new times
// to the index files without another fetch.
func TestKilledAfterRenewal(t *testing.T) {
	web := mustReadWeb(t, ownWebs)
	revisited := func(f page.Fetch) bool { // shows the time of the revisit
		return slices.ContainsFunc(web, func(g page.Fetch) bool { return g.URL == f.URL && g.IsRevisit() })
	}
	fetches := slices.DeleteFunc(newest(web), revisited)
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		t.Run(modeName(mode), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			first := endBySelf(t, dir, ownWebs, mode)
			killAt(t, dir, ownWebs, mode, moment{saysLoad, first.said[saysLoad]}, with(childLater+"=1"))
			r := open(t, dir, repository.Options{Commit: mode})
			defer closeNow(t, r)
			wantSound(t, r, first.digest) // verify also compares times
			wantTimes(t, r, aYearLater(fetches))
		})
	}
}

// BenchmarkRecrawl fetches the pages of the first recorded crawl again, a year later and
// unchanged, and reports the processor time of the second crawl, export of times included.
func BenchmarkRecrawl(b *testing.B) {
	var fetches []page.Fetch
	for _, file := range corpusFiles(b, "t0") {
		var err error
		if fetches, err = appendWARC(fetches, file); err != nil {
			b.Fatal(err)
		}
	}
	fetches = newest(fetches)
	later := aYearLater(fetches)
	var first, second time.Duration
	for b.Loop() {
		r := open(b, filepath.Join(b.TempDir(), "data"), repository.Options{})
		began := processorTime(b)
		load(b, r, 4, fetches)
		loaded := processorTime(b)
		load(b, r, 4, later)
		first, second = first+loaded-began, second+processorTime(b)-loaded
		closeNow(b, r)
	}
	b.ReportMetric(first.Seconds()/float64(b.N), "first-CPU-s")
	b.ReportMetric(second.Seconds()/float64(b.N), "second-CPU-s")
}

// wantTimes compares the fetch times in the index files with those of fetches in force.
func wantTimes(t *testing.T, r *repository.Repository, fetches []page.Fetch) {
	t.Helper()
	q, err := r.Quiet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	shown := 0
	for _, f := range fetches {
		d, found, err := q.Index.(filesView).Document(t.Context(), string(f.URL))
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			continue
		}
		shown++
		if !d.FetchedAt.Equal(f.Time) {
			t.Errorf("%s is shown as fetched at %s, want %s", f.URL, d.FetchedAt.Format(time.RFC3339Nano), f.Time.Format(time.RFC3339Nano))
		}
	}
	if shown == 0 {
		t.Error("no page is in the index")
	}
}

// newest keeps the fetch in force of each URL, of those that brought a payload.
func newest(fetches []page.Fetch) []page.Fetch {
	stamp := func(f *page.Fetch) schema.FetchStamp {
		return schema.FetchStamp{Time: f.Time, Sum: sha256.Sum256(f.Body)}
	}
	inForce := make(map[page.URL]page.Fetch)
	for _, f := range fetches {
		if f.IsRevisit() || f.HasFailed() {
			continue
		}
		if old, ok := inForce[f.URL]; !ok || stamp(&f).Newer(stamp(&old)) {
			inForce[f.URL] = f
		}
	}
	return slices.Collect(maps.Values(inForce))
}

// TestSecondCrawl loads a later crawl of the same site: the document observer runs
// once for each page that has changed since, and for no other.
func TestSecondCrawl(t *testing.T) {
	first := newest(mustReadWeb(t, corpusPart(t, []string{"t0"}, "community", "lucene")))
	second := mustReadWeb(t, corpusPart(t, []string{"t1"}, "community", "lucene"))
	said := make(map[page.URL][]byte)
	for i := range first {
		said[first[i].URL] = content(&first[i])
	}
	changed := int64(0)
	for _, f := range newest(second) {
		if !bytes.Equal(said[f.URL], content(&f)) {
			changed++
		}
	}
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 4, first)
	before := rowsRun(r)
	if n := before["document"]; n != int64(len(first)) {
		t.Errorf("the document observer ran for %d URLs of the first crawl, want each of the %d once", n, len(first))
	}
	effects := load(t, r, 4, second)
	after := rowsRun(r)
	t.Logf("%d URLs, then %d fetches, of which %d were news: %v; rows run %v, then %v", len(first), len(second), changed, effects, before, after)
	if n := after["document"] - before["document"]; n != changed || changed == 0 || changed >= int64(len(second)) {
		t.Errorf("the document observer ran for %d URLs, want the %d of %d that were news", n, changed, len(second))
	}
}

// content returns what of a fetch decides whether anything is new.
func content(f *page.Fetch) []byte { return schema.EncodeContent(f, sha256.Sum256(f.Body)) }
