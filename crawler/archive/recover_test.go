package archive

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// crawled is an archive of one file: a page, a redirect, a revisit, and others.
func crawled(t *testing.T) (dir string) {
	t.Helper()
	server := httptest.NewServer(site())
	defer server.Close()
	fetcher := fetch.New(fetch.Options{AllowPrivate: true})
	defer fetcher.Close()
	dir = t.TempDir()
	rec, err := Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{"/page", "/gzip", "/moved", "/same", "/same", "/missing"} {
		req := fetch.Request{URL: page.MustParseURL(server.URL + path)}
		if i == 4 {
			req.ETag = `"v1"`
		}
		res := fetcher.Fetch(context.Background(), req)
		if err := rec.Record(context.Background(), req.URL, &res); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// onlyFile returns the name and content of the one file in dir with that ending.
func onlyFile(t *testing.T, dir, ending string) (name, content string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil || len(files) != 1 {
		t.Fatalf("files *%s: %v, %v; want one", ending, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(files[0]), string(data)
}

// TestCutAnywhere: wherever a kill cut the file, the next run makes a valid file of its
// complete records, with their index.
func TestCutAnywhere(t *testing.T) {
	whole := crawled(t)
	name, data := onlyFile(t, whole, ".warc.gz")
	_, index := onlyFile(t, whole, ".cdxj")
	all := readBack(t, whole)
	cuts := []int{len(data) - 1, len(data)}
	for cut := 0; cut < len(data); cut += 41 {
		cuts = append(cuts, cut)
	}
	for line := range strings.Lines(index) { // just there, too
		offset, err := strconv.Atoi(field(line, "offset"))
		if err != nil {
			t.Fatal(err)
		}
		cuts = append(cuts, offset-1, offset, offset+1)
	}
	seen := make(map[int]bool)
	for _, cut := range cuts {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name+".open"), []byte(data[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		if cut%2 == 0 { // the index of the whole file was on the disk already
			if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, ".warc.gz")+".cdxj"), []byte(index), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		left := 0
		if err := EachLeft(dir, func(*page.Fetch) error { left++; return nil }); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if _, err := Open(dir, "test"); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		got := readBack(t, dir) // which finds fault with a file that has problems
		if left != len(got) {
			t.Errorf("cut at %d: EachLeft finds %d fetches, want %d", cut, left, len(got))
		}
		for i := range got {
			if got[i].URL != all[i].URL || string(got[i].Body) != string(all[i].Body) {
				t.Errorf("cut at %d: fetch %d is %s, want %s", cut, i, got[i].URL, all[i].URL)
			}
		}
		seen[len(got)] = true
		rest, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(rest) == 0 && len(got) == 0 {
			continue // not one record
		}
		if len(rest) != 2 {
			t.Errorf("cut at %d: files %v, want one and its index", cut, rest)
		}
		_, lines := onlyFile(t, dir, ".cdxj")
		if n := strings.Count(lines, "\n"); n != len(got) {
			t.Errorf("cut at %d: the index has %d lines for %d fetches", cut, n, len(got))
		}
		for line := range strings.Lines(lines) {
			if !strings.Contains(index, line) {
				t.Errorf("cut at %d: %s is not in the index of the whole file\n%s", cut, line, index)
			}
		}
	}
	if len(seen) != len(all)+1 {
		t.Errorf("the cuts left %v fetches, want every number up to %d", seen, len(all))
	}
}

// TestNoIndex: a file does not get its name before its index has one. The next run would not
// look at it again.
func TestNoIndex(t *testing.T) {
	dir := t.TempDir()
	rec, _ := recordGone(t, dir)
	inTheWay := filepath.Join(dir, strings.TrimSuffix(rec.name, ".warc.gz")+".cdxj")
	if err := os.Mkdir(inTheWay, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err == nil {
		t.Fatal("the index cannot be written, and Close says nothing")
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "test"); err != nil {
		t.Fatal(err)
	}
	if _, index := onlyFile(t, dir, ".cdxj"); strings.Count(index, "\n") != 1 || len(readBack(t, dir)) != 1 {
		t.Errorf("the index is %q", index)
	}
	if rest, err := filepath.Glob(filepath.Join(dir, "*.open")); err != nil || len(rest) > 0 {
		t.Errorf("left behind: %v, %v", rest, err)
	}
}

// TestOtherReader has warcio check the files, including one that was cut, and look
// records up by the index.
func TestOtherReader(t *testing.T) {
	warcio, err := exec.LookPath("warcio")
	if err != nil {
		t.Skip("warcio (https://pypi.org/project/warcio/) is not installed: ", err)
	}
	run := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), warcio, args...).CombinedOutput()
		if err != nil {
			t.Errorf("warcio %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	dir := crawled(t)
	name, data := onlyFile(t, dir, ".warc.gz")
	cut := t.TempDir()
	if err := os.WriteFile(filepath.Join(cut, name+".open"), []byte(data[:len(data)-100]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(cut, "test"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, cut} {
		path := filepath.Join(dir, name)
		if out := run("check", "-v", path); strings.Contains(out, "fail") || !strings.Contains(out, "digest pass") {
			t.Errorf("warcio check: %s", out)
		}
		_, index := onlyFile(t, dir, ".cdxj")
		for line := range strings.Lines(index) {
			out := run("extract", "--headers", path, field(line, "offset"))
			if !strings.Contains(out, "WARC-Target-URI: "+field(line, "url")) || !strings.Contains(out, "WARC-Concurrent-To: <urn:uuid:") {
				t.Errorf("%s leads to\n%s", line, out)
			}
		}
		revisits := strings.Count(run("index", "-f", "warc-type,warc-profile,http:status", path), `"revisit", "warc-profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified", "http:status": "304"`)
		if want := strings.Count(index, "warc/revisit"); revisits != want {
			t.Errorf("warcio sees %d revisits, want %d", revisits, want)
		}
	}
}

// field is a value of a line's JSON.
func field(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// TestFailedWrite: after a write has failed, exchanges go to another file, because a crawl
// continues once there is room on the disk. The next run completes the first file.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	rec, f := recordGone(t, dir)
	if err := rec.file.Leave(); err != nil { // the next write fails
		t.Fatal(err)
	}
	res := fetch.Result{Fetch: f, HeaderBlock: []byte("HTTP/1.1 410 Gone\r\n\r\n")}
	if err := rec.Record(t.Context(), f.URL, &res); err == nil {
		t.Fatal("a write failed, and Record says nothing")
	}
	if err := rec.Record(t.Context(), f.URL, &res); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(readBack(t, dir)); n != 1 {
		t.Errorf("%d fetches are in complete files, want 1", n)
	}
	if _, err := Open(dir, "test"); err != nil {
		t.Fatal(err)
	}
	if n := len(readBack(t, dir)); n != 2 {
		t.Errorf("%d fetches are in the archive after the next run, want 2", n)
	}
	checkIndexes(t, dir, 2)
}
