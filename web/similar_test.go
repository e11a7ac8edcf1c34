package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web"
)

// lateSearcher never has the time to compare documents.
type lateSearcher struct{ web.Searcher }

func (lateSearcher) Similar(ctx context.Context, _ page.URL, _ search.SimilarOptions) (*search.SimilarPages, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The page of a document lists pages that say nearly the same; if that takes too long, it
// says so, and is complete otherwise.
func TestSimilarPages(t *testing.T) {
	s := newStand(t, webs(t, "shells"), nil)
	one, two := "https://s.example/tiny1", "https://s.example/tiny2"
	body := s.get(doc(one))
	if !strings.Contains(body, "Pages with nearly the same text") || !strings.Contains(body, "100 %") {
		t.Errorf("no similar pages:\n%s", body)
	}
	found := false
	for _, l := range links(t, body) {
		found = found || l == doc(two)
	}
	if !found {
		t.Errorf("no link to %s", two)
	}
	if body := s.get(doc("https://s.example/never")); strings.Contains(body, "nearly the same") {
		t.Errorf("a page that is not in the index has similar ones:\n%s", body)
	}
	late := s.beside(func(o *web.Options) { o.Search = lateSearcher{o.Search} })
	if body := late.get(doc(one)); !strings.Contains(body, "too many documents") || !strings.Contains(body, "Pages that link here") {
		t.Errorf("without time:\n%s", body)
	}
}
