package web_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
)

// BenchmarkSearchPage compares a page of ten results with its baseline, the search alone.
// "fresh" has pages fetched just now, for which results show how soon they were searchable.
func BenchmarkSearchPage(b *testing.B) {
	for _, when := range []string{"old", "fresh"} {
		fetches := many(500)
		if when == "fresh" {
			for i := range fetches {
				fetches[i].Time = time.Now()
			}
		}
		s := newStand(b, fetches, nil)
		b.Run(when+"/search alone", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.reader.Search(b.Context(), "leaf oak branch", search.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(when+"/page", func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(b.Context(), "GET", "http://localhost/?q=leaf+oak+branch", nil)
				if s.server.Handler().ServeHTTP(w, r); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
