package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// site answers with a page, a compressed one, a redirect, an unchanged page and
// an error.
func site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>a page</title>")
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, strings.Repeat("<p>compressed", 1000))
		_ = z.Close()
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/page", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/same", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "as before")
	})
	return mux
}

func readBack(t *testing.T, dir string) (fetches []page.Fetch) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		r, err := warc.Open(file, warc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range r.Fetches() {
			if err != nil {
				t.Fatal(err)
			}
			fetches = append(fetches, f)
		}
		if len(r.Problems()) > 0 {
			t.Errorf("%s: %v", file, r.Problems())
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return fetches
}

// TestReadBack: reading the archive returns what was fetched, in several files, each
// with an index that points at its records.
func TestReadBack(t *testing.T) {
	server := httptest.NewServer(site())
	defer server.Close()
	fetcher := fetch.New(fetch.Options{AllowPrivate: true})
	defer fetcher.Close()
	dir := filepath.Join(t.TempDir(), "a [dir]")
	rec, err := Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	rec.limit = 1500
	var want []page.Fetch
	for _, path := range []string{"/page", "/gzip", "/moved", "/same", "/same", "/missing"} {
		req := fetch.Request{URL: page.MustParseURL(server.URL + path)}
		if len(want) == 4 {
			req.ETag = `"v1"`
		}
		res := fetcher.Fetch(context.Background(), req)
		if err := rec.Record(context.Background(), req.URL, &res); err != nil {
			t.Fatal(err)
		}
		want = append(want, res.Fetch)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	got := readBack(t, dir)
	if len(got) != len(want) {
		t.Fatalf("read back %d fetches, want %d", len(got), len(want))
	}
	for i := range want {
		g, w := got[i], want[i]
		if g.URL != w.URL || !g.Time.Equal(w.Time) || g.Status != w.Status || g.IsRevisit() != w.IsRevisit() || !bytes.Equal(g.Body, w.Body) {
			t.Errorf("read back %s %d at %v, %d bytes; want %s %d at %v, %d bytes", g.URL, g.Status, g.Time, len(g.Body), w.URL, w.Status, w.Time, len(w.Body))
		}
	}
	checkIndexes(t, dir, len(want))
}

// checkIndexes follows every line of the CDXJ files to its record.
func checkIndexes(t *testing.T, dir string, n int) {
	t.Helper()
	indexes, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.cdxj"))
	if err != nil || len(indexes) < 2 {
		t.Fatalf("indexes %v, %v: want several files", indexes, err)
	}
	lines := 0
	for _, path := range indexes {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(strings.TrimSuffix(path, ".cdxj") + ".warc.gz")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines++
			var offset, length int
			var url string
			if _, err := fmt.Sscanf(line[strings.Index(line, `"length"`):], `"length":"%d","offset":"%d"`, &length, &offset); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			url = line[strings.Index(line, `"url":"`)+7:]
			url = url[:strings.Index(url, `"`)]
			r := warc.NewReader(bytes.NewReader(data[offset:offset+length]), "record", warc.Options{})
			record, err := r.Next()
			if err != nil || record.TargetURI != url {
				t.Errorf("%s leads to %v, %v", line, record, err)
			}
		}
	}
	if lines != n {
		t.Errorf("%d lines in the indexes, want %d", lines, n)
	}
}

// recordGone opens a recorder and records a fetch, and none of one that failed.
func recordGone(t *testing.T, dir string) (*Recorder, page.Fetch) {
	t.Helper()
	rec, err := Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	gone := page.Fetch{URL: "https://a.example/", Time: time.Unix(1, 5).UTC(), Status: 410}
	res := fetch.Result{Fetch: gone, HeaderBlock: []byte("HTTP/1.1 410 Gone\r\n\r\n")}
	failed := fetch.Result{Fetch: page.Fetch{URL: gone.URL, Time: gone.Time, Err: "timeout"}, Class: fetch.Timeout}
	for _, r := range []*fetch.Result{&failed, &res} {
		if err := rec.Record(t.Context(), gone.URL, r); err != nil {
			t.Fatal(err)
		}
	}
	return rec, gone
}

// TestKilled: the file of a killed run gets its name when the next run begins, and is
// complete.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [dir]")
	rec, gone := recordGone(t, dir)
	// The process dies here: nothing is closed.
	if len(readBack(t, dir)) != 0 {
		t.Fatal("a file has its name before it is complete")
	}
	if _, err := Open(dir, "test"); err != nil {
		t.Fatal(err)
	}
	if got := readBack(t, dir); len(got) != 1 || got[0].URL != gone.URL || !got[0].Time.Equal(gone.Time) {
		t.Fatalf("read back %v", got)
	}
	_ = rec.file.Close()
}

// TestSURT: keys equal those of other tools.
func TestSURT(t *testing.T) {
	for u, want := range map[page.URL]string{
		"https://www.example.com/A?B=c":  "com,example)/a?b=c",
		"http://sub.example.org:8080/x/": "org,example,sub:8080)/x",
	} {
		if got := page.SURT(u); got != want {
			t.Errorf("surt(%s) = %s, want %s", u, got, want)
		}
	}
}
