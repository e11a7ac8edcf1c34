package crawltest

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
)

// TestSecretHeaders: a header field for one site is sent to that site with every
// request, and to no other, even where a redirect leads from one to the other; and no
// file contains it.
func TestSecretHeaders(t *testing.T) {
	t.Parallel()
	const secret = "Bearer sEcReT-0123456789"
	w := Serve(t, `-- 2024-01-01 http://intra.ip50/ --
<title>Intranet</title><p>What the intranet says to those who have the token: <a href="/more">more</a> <a href="/away">away</a>
-- 2024-01-01 http://intra.ip50/more --
<title>More</title><p>More of what the intranet says to those who have the token, which stands in no file.
-- 2024-01-01 http://intra.ip50/away 302 --
Location: http://other.ip51/from
-- 2024-01-01 http://other.ip51/from 302 --
Location: http://intra.ip50/back
-- 2024-01-01 http://intra.ip50/back --
<title>Back</title><p>The way went over another host, which was told nothing of what only this one may know.
-- 2024-01-01 https://intra.ip52/ --
<title>Other scheme</title><p>The same address with another scheme and another port is another site, and is told nothing.
`)
	s := NewSetting(t.TempDir(), 10*time.Millisecond, w.URL("http://intra.ip50/"), w.URL("https://intra.ip52/"))
	s.Config.Scope = "any"
	if err := trust(&s.Fetch, w.Roots()); err != nil {
		t.Fatal(err)
	}
	s.Fetch.Headers = map[string]http.Header{crawler.HostOf(w.URL("http://intra.ip50/")): {"Authorization": {secret}}}
	docs, _ := crawlOnce(t, s)
	checkMembers(t, w.Members(docs), []string{"intra.ip50/", "intra.ip50/more", "intra.ip50/back", "intra.ip50/away", "other.ip51/from", "intra.ip52/"})
	for _, x := range w.Log() {
		if got, want := x.Header.Get("Authorization"), map[bool]string{true: secret}[x.Host == "intra.ip50"]; got != want {
			t.Errorf("%s%s was sent %q, want %q", x.Host, x.Path, got, want)
		}
	}
	for _, dir := range []string{s.Dir, s.WARC} {
		findNowhere(t, dir, "sEcReT")
	}
}

// findNowhere looks for a text in all files of a directory, compressed ones unpacked.
func findNowhere(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return err
			}
			if b, err = io.ReadAll(z); err != nil {
				return err
			}
			if !bytes.Contains(b, []byte("GET /more HTTP/1.1")) {
				t.Errorf("%s has no request", path)
			}
		}
		if bytes.Contains(b, []byte(text)) {
			t.Errorf("%q is in %s", text, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
