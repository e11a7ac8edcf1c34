package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/internal/config"
)

// TestPoliteness: no delay means no pause. Only --per-host lets a host have more than one
// request at a time, and nothing turns off Crawl-delay, or the turns of hosts that share
// an address.
func TestPoliteness(t *testing.T) {
	for _, c := range []struct {
		delay   time.Duration
		perHost int
		want    crawler.Politeness
	}{
		{time.Second, 1, crawler.Politeness{MinDelay: time.Second, PerHost: 1}},
		{0, 1, crawler.Politeness{MinDelay: -1, DelayFactor: -1, PerHost: 1}},
		{0, 8, crawler.Politeness{MinDelay: -1, DelayFactor: -1, PerHost: 8}},
		{2 * time.Second, 8, crawler.Politeness{MinDelay: 2 * time.Second, PerHost: 8}},
	} {
		f := flagsOf(config.Crawl{Delay: c.delay, PerHost: c.perHost, Concurrency: 32})
		if got := f.politeness(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("delay %v, %d per host: %+v, want %+v", c.delay, c.perHost, got, c.want)
		}
	}
}

func TestSecretHeaders(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token, empty := file("token", "  s3cret \r\nmore\n"), file("empty", "\nx")
	bad := file("bad", "a\x00b\n")
	for value, want := range map[string]string{
		"Bearer @" + token:        "Bearer s3cret",
		"@" + token:               "s3cret",
		"plain":                   "plain",
		"to @@home":               "to @home",
		"Bearer @" + empty:        "",
		"Bearer @" + bad:          "",
		"Bearer @" + dir + "/not": "",
	} {
		bySite, err := secretHeaders("https://A.example:443 Authorization: " + value + "\nhttps://a.example X-Other: 1")
		switch got := bySite["https://a.example"].Get("Authorization"); {
		case want == "" && err == nil:
			t.Errorf("%q: no error", value)
		case want == "" && strings.Contains(err.Error(), "b\n"):
			t.Errorf("%q: %v", value, err)
		case want != "" && (err != nil || got != want):
			t.Errorf("%q: got %q, %v; want %q", value, got, err, want)
		}
	}
}
