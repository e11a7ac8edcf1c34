package web_test

import (
	"regexp"
	"testing"
	"time"

	"indexer/page"
)

// Of a page that was fetched just now the results tell how soon it could be found; of
// one from a recorded crawl they do not.
func TestHowSoonItCouldBeFound(t *testing.T) {
	fresh := fetched("https://today.example/", 1, "<title>Fresh bread</title><p>Warm from the oven.")
	fresh.Time = time.Now()
	s := newStand(t, []page.Fetch{fresh, fetched("https://then.example/", 1, "<title>Stale bread</title><p>Hard as a stone from the oven.")}, nil)
	told := regexp.MustCompile(`, indexed [0-9.]+ m?s after that`)
	if body := s.get("/?q=fresh+bread&site=today.example"); !told.MatchString(body) {
		t.Errorf("it is not told of a fresh page:\n%s", body)
	}
	if body := s.get("/?q=stale+bread&site=then.example"); told.MatchString(body) {
		t.Error("it is told of an old page")
	}
	if body := s.get(doc("https://today.example/")); !regexp.MustCompile(`Searchable</dt>.*[0-9.]+ m?s after it was fetched`).MatchString(body) {
		t.Errorf("it is not told on its page:\n%s", body)
	}
}
