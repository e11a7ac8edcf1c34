package inspect_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
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
		if v.HasCopy != (err == nil) {
			t.Errorf("the version at %d has a copy: %t, but %v", v.TS, v.HasCopy, err)
		}
		got += fmt.Sprintf("%s %d %v %s\n", v.FetchedAt.Format("2 Jan"), v.Status, v.Readable, body)
	}
	const want = "5 Jan 200 true <p>three\n4 Jan 410 true none\n2 Jan 200 true <p>two\n1 Jan 200 true <p>one\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	picture := page.Fetch{URL: u + "a.png", Time: day(1), Status: 200, Header: http.Header{"Content-Type": {"image/png"}}, Body: []byte("a picture")}
	if _, err := r.Load(t.Context(), &picture); err != nil {
		t.Fatal(err)
	}
	if list, err := inspect.Versions(t.Context(), r.DB(), picture.URL); err != nil || len(list) != 1 || list[0].HasCopy {
		t.Errorf("versions of a picture: %+v, %v", list, err)
	}
	if f, err := inspect.Copy(t.Context(), r.DB(), u, 0); err != nil || string(f.Body) != "<p>three" {
		t.Errorf("the copy of now: %v, %v", f, err)
	}
}

// A process that collects no garbage knows up to where others have collected it.
func TestReadableInOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const u = page.URL("https://news.example/")
		table, coordinator := sharedtest.Table(t, txn.Groups(schema.GroupFetch)), sharedtest.New()
		var dbs [2]*txn.DB
		var err error
		for i := range dbs {
			p := coordinator.Join()
			if dbs[i], err = txn.Open(t.Context(), table, txn.Options{Coordination: &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}}); err != nil {
				t.Fatal(err)
			}
			defer dbs[i].Close()
		}
		load := func(status int) {
			_, err := dbs[0].Run(t.Context(), func(tx *txn.Txn) error {
				tx.Set(schema.URLRow(u), schema.FetchContent, schema.EncodeContent(&page.Fetch{URL: u, Status: status}, [32]byte{}))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		load(200)
		load(404)
		_, err = dbs[0].Timestamp(t.Context())
		time.Sleep(2 * time.Second) // until both have published what they read
		if _, err2 := dbs[0].Collect(t.Context(), txn.CollectOptions{}); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		load(200)
		for i, db := range dbs {
			list, err := inspect.Versions(t.Context(), db, u)
			if err != nil || len(list) != 2 || !list[0].Readable || list[1].Readable {
				t.Errorf("process %d: %+v, %v", i, list, err)
			}
		}
	})
}

// The newest version has a copy even if the time at which it was loaded is no longer kept.
func TestCopyOfOldVersion(t *testing.T) {
	const u = page.URL("https://news.example/")
	r := opened(t, repository.Options{})
	for _, at := range []page.URL{u, "https://other.example/"} {
		f := page.Fetch{URL: at, Time: time.Now(), Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<p>one")}
		if _, err := r.Load(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Collect(t.Context(), func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	list, err := inspect.Versions(t.Context(), r.DB(), u)
	if err != nil || len(list) != 1 || !list[0].Readable || list[0].TS >= r.DB().SafePoint() {
		t.Fatalf("%+v with the safe point %d, %v", list, r.DB().SafePoint(), err)
	}
	if f, err := inspect.Copy(t.Context(), r.DB(), u, list[0].TS); err != nil || string(f.Body) != "<p>one" {
		t.Errorf("the copy of the only version: %v, %v", f, err)
	}
	if _, err := inspect.Copy(t.Context(), r.DB(), u, list[0].TS-1); !errors.Is(err, inspect.ErrNoCopy) {
		t.Errorf("a copy from before: %v", err)
	}
}
