package inspect_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

// The versions of a URL are the fetches that changed it, newest first, each with its body.
// Fetches that bring nothing new, or arrive too late, are not versions.
func TestVersions(t *testing.T) {
	const u = page.URL("https://news.example/")
	r := opened(t, repository.Options{History: time.Hour})
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	load := func(n, status int, body string) {
		t.Helper()
		f := page.Fetch{URL: u, Time: day(n), Status: status, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
		if _, err := r.Load(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := inspect.Versions(t.Context(), r.DB(), u); err != nil || len(list) != 0 {
		t.Fatalf("never fetched: %v, %v", list, err)
	}
	if _, err := inspect.Copy(t.Context(), r.DB(), u, 0); !errors.Is(err, inspect.ErrNoCopy) {
		t.Errorf("a copy of nothing: %v", err)
	}
	load(1, 200, "<p>one")
	load(2, 200, "<p>two")
	load(3, 200, "<p>two")
	load(1, 200, "<p>late")
	load(4, 410, "gone")
	load(5, 200, "<p>three")
	list, err := inspect.Versions(t.Context(), r.DB(), u)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, v := range list {
		f, err := inspect.Copy(t.Context(), r.DB(), u, v.TS)
		body := "none"
		switch {
		case err == nil:
			body = string(f.Body)
			if !f.Time.Equal(v.FetchedAt) || f.Status != v.Status {
				t.Errorf("the copy at %d is of %s, the version of %s", v.TS, f.Time, v.FetchedAt)
			}
		case !errors.Is(err, inspect.ErrNoCopy):
			t.Error(err)
		}
		got += fmt.Sprintf("%s %d %v %s\n", v.FetchedAt.Format("2 Jan"), v.Status, v.Readable, body)
	}
	const want = "5 Jan 200 true <p>three\n4 Jan 410 true none\n2 Jan 200 true <p>two\n1 Jan 200 true <p>one\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if f, err := inspect.Copy(t.Context(), r.DB(), u, 0); err != nil || string(f.Body) != "<p>three" {
		t.Errorf("the copy of now: %v, %v", f, err)
	}
}
