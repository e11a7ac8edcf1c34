package freshnessbench

import (
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// TestArrivals: a page counts from the first moment at which it was due, once, and
// only if it was due at all.
func TestArrivals(t *testing.T) {
	a := newArrivals()
	at := time.Unix(1000, 0)
	a.due("http://a.example/1", at.Add(2*time.Second))
	a.due("http://a.example/2", at.Add(time.Second))
	a.due("http://a.example/1", at) // loaded after the later fetch of it, and before it was found
	a.due("http://a.example/1", at.Add(2*time.Second))
	for _, u := range []string{"1", "3", "1", "2"} {
		a.searchable(schema.URLRow(page.URL("http://a.example/"+u)), at, at.Add(5*time.Second))
	}
	if got, want := a.taken(), []time.Duration{4 * time.Second, 5 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	a.reset()
	if got := a.taken(); len(got) != 0 {
		t.Errorf("after a reset: %v", got)
	}
}
