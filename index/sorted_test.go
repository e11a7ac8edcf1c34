package index

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestSorted compares lists of any length with all documents sorted in Go. Most have one of a few
// ranks and times, so that the last one of a list is seldom the only one of its rank.
func TestSorted(t *testing.T) {
	const documents = 60
	dir := t.TempDir()
	var ops []Change
	var all []search.Found
	for i := range documents {
		d := Document{Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprint("https://a.example/", i*37%documents)),
			Title: "net", Text: "harbour", Rank: float64(1 + i%4), FetchedAt: unpackTime(int64(i % 5))}
		if i%3 == 0 {
			d.Text = "rope"
		}
		ops = append(ops, Upsert(&d))
		all = append(all, search.Found{Rank: d.Rank, URL: d.URL, Fetched: packTime(d.FetchedAt), Title: d.Text})
	}
	apply(t, openTestWriter(t, dir), ops...)
	v, err := openTestReader(t, dir).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	harbour := &query.Expr{Op: query.OpPhrase, Phrase: query.Phrase{Tokens: "harbour"}, In: postings.AllColumns}
	for _, byDate := range []bool{false, true} {
		slices.SortFunc(all, func(a, b search.Found) int {
			by := cmp.Compare(b.Rank, a.Rank)
			if byDate {
				by = cmp.Compare(b.Fetched, a.Fetched)
			}
			return cmp.Or(by, cmp.Compare(a.URL, b.URL))
		})
		for _, m := range []search.Matching{{}, {Expr: harbour}, {Expr: harbour, Fetched: query.Period{From: 2, Until: 4}}, {Fetched: query.Period{From: 3}}} {
			var want []string
			for _, d := range all {
				from, until := m.Fetched.From, m.Fetched.Until
				if (m.Expr == nil || d.Title == "harbour") && (!m.Fetched.Bounded() || d.Fetched != 0) && d.Fetched >= from && (until == 0 || d.Fetched < until) {
					want = append(want, fmt.Sprint(d.URL, " ", d.Rank))
				}
			}
			for n := range documents + 2 {
				list, err := (&viewShard{v: v}).Sorted(t.Context(), &search.SortedQuestion{Matching: m, N: n, ByDate: byDate})
				if err != nil {
					t.Fatal(err)
				}
				got := []string{}
				for _, f := range list {
					got = append(got, fmt.Sprint(f.URL, " ", f.Score))
				}
				if want := want[:min(n, len(want))]; !slices.Equal(got, want) {
					t.Fatalf("%+v, the first %d, by date %t:\n got %v\nwant %v", m, n, byDate, got, want)
				}
			}
		}
	}
}

// TestManyTied: the pages of a result are parts of one list, however many documents have equal scores.
func TestManyTied(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	var changes []Change
	for i := range 3000 {
		u := page.URL(fmt.Sprintf("https://site%d.example/%d", i%50, 9000-i))
		changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Title: fmt.Sprint("page", i), Text: "rope"}))
	}
	apply(t, w, changes...)
	r := openTestReader(t, w.dir)
	find := func(offset, limit int) (urls []page.URL) {
		res, err := r.Search(t.Context(), "rope", search.Options{Offset: offset, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			urls = append(urls, h.URL)
		}
		return urls
	}
	all := find(0, search.MaxResults)
	for offset := 0; offset < len(all); offset += 90 {
		limit := min(90, len(all)-offset)
		if got := find(offset, limit); !slices.Equal(got, all[offset:offset+limit]) {
			t.Fatalf("the hits from %d are not those of all: %q, want %q", offset, got, all[offset:offset+limit])
		}
	}
}
