package sitemap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

const suite = "../../../shared/suites/sitemaps"

type suiteCase struct {
	Test       string
	File, Body string
	URL        string
	URLs       *int
	Sitemaps   *int
	Mentions   []string
	StrictHost *bool `json:"strict_host"`
}

// TestSuite runs all cases of the suite, which was taken from crawler-commons. Where
// the two parsers differ, no case's result does:
//
//	theirs (by the suite's note and cases)    ours
//	pages outside host and directory dropped  outside the host
//	namespaces checked on demand              never looked up: a prefix must be that of the entry
//	image, video, news extensions read        passed over
func TestSuite(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(suite, "cases.json"))
	if err != nil {
		t.Skip("the suites are not beside the project: ", err)
	}
	var all struct{ Cases []suiteCase }
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) < 15 {
		t.Errorf("only %d cases", len(all.Cases))
	}
	for _, c := range all.Cases {
		t.Run(c.Test, func(t *testing.T) { runSuiteCase(t, c) })
	}
}

// anySite announces a file everywhere.
func anySite(string) bool { return true }

func runSuiteCase(t *testing.T, c suiteCase) {
	body := c.Body
	if c.File != "" {
		content, err := os.ReadFile(filepath.Join(suite, c.File))
		if err != nil {
			t.Fatal(err)
		}
		body = string(content)
	}
	var opts Options
	if c.StrictHost != nil && !*c.StrictHost {
		opts.Announced = anySite
	}
	s, problems := parse(strings.NewReader(body), page.MustParseURL(c.URL), opts)
	wantKind, want := PageEntry, c.URLs
	if c.Sitemaps != nil {
		wantKind, want = SitemapEntry, c.Sitemaps
	}
	if len(s.Entries) != *want {
		t.Errorf("%d entries, want %d; problems %v", len(s.Entries), *want, problems)
	}
	for _, e := range s.Entries {
		if e.Kind != wantKind {
			t.Errorf("%s is of kind %v", e.URL, e.Kind)
		}
	}
	for _, m := range c.Mentions {
		if !slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.URL == page.MustParseURL(m) }) {
			t.Errorf("%s is missing from %v", m, s.Entries)
		}
	}
}

// TestSuiteFiles reads what the suite has no numbers for: the real files with
// extensions. All their entries must come, and none of images and videos.
func TestSuiteFiles(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(suite, "sitemaps/extension/*.xml"))
	if len(files) == 0 {
		t.Skip("the suites are not beside the project")
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Count(string(content), "<url>") + strings.Count(string(content), "<url ")
		s, problems := parse(strings.NewReader(string(content)), "https://www.example.com/sitemap.xml", Options{Announced: anySite})
		if len(s.Entries) != want || want == 0 {
			t.Errorf("%s: %d entries of %d; problems %v", filepath.Base(name), len(s.Entries), want, problems)
		}
	}
}
