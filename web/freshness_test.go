package web_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/web"
)

// nobody is an Inspector that asks a process that does not answer.
type nobody struct{}

func (nobody) Inspect(context.Context, page.URL, inspect.Windows, snapshot.Moment) (*web.Details, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Copy(context.Context, page.URL, uint64) (*page.Fetch, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Versions(context.Context, page.URL) ([]inspect.PageVersion, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Stats(context.Context) (*repository.Stats, error) { return nil, web.ErrElsewhere }

func (nobody) Text(context.Context, page.URL, uint64) (*inspect.PageText, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Picture(context.Context, page.URL, uint64, bool) ([]byte, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Pictured(context.Context, []page.URL) ([]page.URL, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Icons(context.Context, []page.URL) ([]inspect.SiteIcon, error) {
	return nil, web.ErrElsewhere
}

func (nobody) Icon(context.Context, page.URL) ([]byte, error) { return nil, web.ErrElsewhere }

// Results show how soon a page that was fetched just now was searchable, in any process
// that has the index files. They do not show it for a page from a recorded crawl.
func TestHowSoonItCouldBeFound(t *testing.T) {
	fresh := fetched("https://today.example/", 1, "<title>Fresh bread</title><p>Warm from the oven.")
	fresh.Time = time.Now()
	again := fetched("https://again.example/", 1, "<title>Same bread</title><p>As it was yesterday, from the oven.")
	s := newStand(t, []page.Fetch{fresh, again, fetched("https://then.example/", 1, "<title>Stale bread</title><p>Hard as a stone from the oven.")}, nil)
	again.Time = time.Now().Add(48 * time.Hour) // at the next check
	s.load(again)
	told := regexp.MustCompile(`, indexed [0-9.]+ m?s later`)
	beside := s.beside(func(o *web.Options) { o.Inspect = nobody{} })
	for name, at := range map[string]*stand{"the holder": s, "another process": beside} {
		if body := at.get("/?q=fresh+bread&site=today.example"); !told.MatchString(body) {
			t.Errorf("%s does not show the delay of a fresh page:\n%s", name, body)
		}
		if body := at.get("/?q=stale+bread&site=then.example"); told.MatchString(body) {
			t.Errorf("%s shows a delay for an old page", name)
		}
		if body := at.get("/?q=same+bread&site=again.example"); told.MatchString(body) || !regexp.MustCompile(`, indexed since <time[^>]*>`+time.Now().UTC().Format("2 Jan 2006")).MatchString(body) {
			t.Errorf("%s does not show since when an unchanged page has been indexed:\n%s", name, body)
		}
	}
	if body := s.get(doc("https://today.example/")); !regexp.MustCompile(`Searchable</dt>.*[0-9.]+ m?s after the fetch`).MatchString(body) {
		t.Errorf("the page of the document does not show the delay:\n%s", body)
	}
}
