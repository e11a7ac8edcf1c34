package repository_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestNoFlappingInCrawls replays crawls, one on top of the other, and counts from the
// versions of all index documents how often one moved to another URL, and how often it
// came back to one that it had left while the same crawl was loaded: rank and rerank
// gather while pages stream in, so that ranks which rise and fall until they are at rest
// do not move it to and fro.
func TestNoFlappingInCrawls(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of work")
	}
	hosts := []string{"community", "lucene"}
	if testenv.Long() {
		hosts = []string{"community", "flink", "httpd", "incubator", "kafka", "lucene"}
	}
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	for _, snapshot := range []string{"t0", "t1", "t2"} {
		since := r.DB().LastTimestamp()
		before := shownURLs(t, r, 0, since)
		end := r.Loading() // no gap between pages, in which new ones would be shown before they have ranks
		load(t, r, 4, mustReadWeb(t, corpusPart(t, []string{snapshot}, hosts...)))
		end()
		shown := shownURLs(t, r, since, r.DB().LastTimestamp())
		moves, back, needed := 0, 0, 0
		for row, urls := range shown {
			first := page.URL("")
			if was := before[row]; len(was) > 0 {
				first = was[len(was)-1]
			}
			way := slices.Compact(append([]page.URL{first}, urls...))
			way = slices.DeleteFunc(way, func(u page.URL) bool { return u == "" })
			for i := 1; i < len(way); i++ {
				if moves++; slices.Contains(way[:i], way[i]) {
					back++
					t.Logf("%s: %x was shown as %q", snapshot, row[:6], way)
				}
			}
			if len(way) > 1 && way[0] == first && first != way[len(way)-1] {
				needed++
			}
		}
		t.Logf("%s: %d documents written, %d moves to another URL, %d of them back; %d are elsewhere than before", snapshot, len(shown), moves, back, needed)
		if back > len(shown)/100 {
			t.Errorf("%s: %d documents came back to where they had been", snapshot, back)
		}
	}
}

// shownURLs returns the URLs under which each cluster was shown, by the time of writing,
// after one timestamp and up to another; "" where it was taken out of the index.
func shownURLs(t *testing.T, r *repository.Repository, after, upTo uint64) map[string][]page.URL {
	t.Helper()
	type version struct {
		at  uint64
		url page.URL
	}
	versions := make(map[string][]version)
	values := make(map[string]map[uint64][]byte)
	err := r.DB().Records(t.Context(), schema.GroupIndex, "", "", func(rec txn.Record) error {
		if rec.Damage != nil || rec.Cell.Column != schema.Indexed {
			return rec.Damage
		}
		row := rec.Cell.Row
		switch rec.Kind {
		case txn.KindData:
			if values[row] == nil {
				values[row] = make(map[uint64][]byte)
			}
			values[row][rec.Start] = slices.Clone(rec.Value)
		case txn.KindWrite:
			value := rec.Value
			if !rec.Inline {
				value = values[row][rec.Start]
			}
			v := version{at: rec.TS}
			if value != nil {
				d, err := schema.DecodeIndexed(value)
				if err != nil {
					return err
				}
				v.url = d.URL
			}
			if rec.TS > after && rec.TS <= upTo {
				versions[row] = append(versions[row], v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string][]page.URL, len(versions))
	for row, list := range maps.All(versions) {
		slices.SortFunc(list, func(a, b version) int { return cmp.Compare(a.at, b.at) })
		for _, v := range list {
			shown[row] = append(shown[row], v.url)
		}
	}
	return shown
}
