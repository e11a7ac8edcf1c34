package index

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestNoResidue: an index whose documents were replaced, moved and deleted answers every question
// like one that only ever had the documents that are left. Suggestions of spellings are not compared,
// because the stored words depend on the order of changes (package spelling).
func TestNoResidue(t *testing.T) {
	rng := testenv.Random(t)
	size := testenv.Size(40, 120, 1000)
	used := openTestWriter(t, t.TempDir())
	for list := changedOften(size, rng); len(list) > 0; {
		n := min(1+rng.IntN(40), len(list))
		apply(t, used, list[:n]...)
		list = list[n:]
	}
	old := openTestReader(t, used.dir)
	fresh := openTestWriter(t, t.TempDir())
	var left []Change
	var urls []page.URL
	err := old.Documents(t.Context(), func(d Document) error {
		left, urls = append(left, Upsert(&d)), append(urls, d.URL)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	apply(t, fresh, left...)
	sameIndex(t, old, openTestReader(t, fresh.dir), urls, rng)
}

// changedOften returns a history of documents. Those in French, and all of one site, are gone at its
// end. In French, "let" is the stem of "letter".
func changedOften(size int, rng *rand.Rand) []Change {
	list := scoredChanges(size, rng)
	for i := range list {
		d := list[i].Doc
		if d == nil {
			continue
		}
		d.Text += []string{"", " let", " letter"}[rng.IntN(3)]
		if rng.IntN(3) == 0 {
			d.Language = "fr"
		}
	}
	seq := uint64(10)
	for _, c := range list[:size] {
		seq++
		switch d := *c.Doc; {
		case rng.IntN(5) == 0: // moves to another URL
			d.URL, d.Seq, d.Language = page.URL(fmt.Sprintf("https://moved.example/%d", rng.IntN(size))), seq, "en"
			list = append(list, Upsert(&d))
		case rng.IntN(5) == 0 || d.URL.Host() == "site3.example":
			list = append(list, Delete(d.Cluster, seq))
		default:
			d.Language, d.Seq = []string{"de", "ja", ""}[rng.IntN(3)], seq
			list = append(list, Upsert(&d))
		}
	}
	return list
}

// sameIndex asks two indexes the same questions.
func sameIndex(t *testing.T, got, want *Reader, urls []page.URL, rng *rand.Rand) {
	t.Helper()
	same := func(about string, ask func(*Reader) (any, error)) {
		t.Helper()
		a, err := ask(got)
		b, err2 := ask(want)
		if fmt.Sprint(err) != fmt.Sprint(err2) || !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\n got %+v (%v)\nwant %+v (%v)", about, a, err, b, err2)
		}
	}
	text := func(n int) string { return randomWords(rng, n) }
	for range testenv.Size(30, 100, 3000) {
		asked := operatorQuery(rng, text)
		if rng.IntN(4) == 0 {
			asked = groupedQuery(rng, text)
		}
		asked += []string{"", " letter"}[rng.IntN(2)]
		o := search.Options{Limit: 1 + rng.IntN(50), Facets: true, Explain: true, PerHost: rng.IntN(3), Sort: search.Sort(rng.IntN(4) / 3), NoSuggestion: true}
		same(asked, func(r *Reader) (any, error) {
			res, err := r.Search(t.Context(), asked, o)
			if err == nil {
				res.TookMS = 0
				for i := range res.Hits {
					res.Hits[i].IndexedAt = time.Time{}
				}
			}
			return res, err
		})
	}
	same("filters", func(r *Reader) (any, error) { return r.Filters(t.Context()) })
	for _, u := range urls[:min(len(urls), 20)] {
		same("similar to "+string(u), func(r *Reader) (any, error) {
			list, err := r.Similar(t.Context(), u, search.SimilarOptions{Threshold: 0.2})
			if err == nil {
				list.TookMS = 0
			}
			return list, err
		})
	}
	for range 30 {
		q := search.CompletionQuestion{Typed: text(1)[:1], N: search.MaxCompletions}
		same("completions of "+q.Typed, func(r *Reader) (any, error) { return r.Complete(t.Context(), q) })
	}
}

// TestLengthsOfRemovedDocuments: blocks of lengths go with their last documents.
func TestLengthsOfRemovedDocuments(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	r := openTestReader(t, w.dir)
	blocks := func() (n int) {
		if err := r.db.QueryRow("SELECT count(*) FROM lengths").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var docs, gone []Change
	for i := range 2*lengthBlock + 10 {
		d := &Document{Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprintf("https://a.example/%d", i)), Text: "rope"}
		docs, gone = append(docs, Upsert(d)), append(gone, Delete(d.Cluster, 2))
	}
	apply(t, w, docs...)
	if n := blocks(); n != 3 {
		t.Errorf("%d blocks of %d documents", n, len(docs))
	}
	apply(t, w, gone[:lengthBlock-2]...) // ids begin with 1, so one is left in the first block
	if n := blocks(); n != 3 {
		t.Errorf("%d blocks with documents", n)
	}
	apply(t, w, gone[lengthBlock-2:2*lengthBlock]...)
	if n := blocks(); n != 1 {
		t.Errorf("%d blocks of %d documents", n, 10)
	}
	if res, err := r.Search(t.Context(), "rope", search.Options{}); err != nil || res.Total != 10 {
		t.Errorf("%+v, %v", res, err)
	}
}
