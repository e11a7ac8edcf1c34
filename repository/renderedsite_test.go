package repository_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
)

// The site in testdata/rendered is made by scripts: text, links and canonical links. It has
// three moments in time, each a directory with what is fetched then.

const (
	siteHome  = page.URL("https://site.example/")
	siteAbout = page.URL("https://site.example/about")
	siteCopy  = page.URL("https://site.example/copy")
)

var siteTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".png": "image/png",
}

// renderedWeb is the name of the site for readWeb.
const renderedWeb = "rendered"

// siteFetches reads the fetches of a moment. With names it reads only these files.
func siteFetches(t testing.TB, moment int, names ...string) []page.Fetch {
	t.Helper()
	fetches, err := readSiteAt(moment, names...)
	if err != nil || len(fetches) == 0 {
		t.Fatalf("moment %d has %d files: %v", moment, len(fetches), err)
	}
	return fetches
}

func readSiteAt(moment int, names ...string) (fetches []page.Fetch, err error) {
	files := os.DirFS(fmt.Sprintf("testdata/rendered/%d", moment))
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(names) > 0 && !slices.Contains(names, name) {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		u := page.MustParseURL("https://site.example/" + strings.TrimPrefix(strings.TrimSuffix(name, ".html"), "index"))
		fetches = append(fetches, page.Fetch{
			URL: u, Time: time.Date(2024, 5, moment, 0, 0, 0, 0, time.UTC), Status: 200,
			Header: http.Header{"Content-Type": {siteTypes[path.Ext(name)]}}, Body: body,
		})
		return nil
	})
	return fetches, err
}

// readRenderedSite reads everything that is ever fetched.
func readRenderedSite() (all []page.Fetch, err error) {
	for moment := 1; moment <= 3; moment++ {
		fetches, err := readSiteAt(moment)
		if err != nil {
			return nil, err
		}
		all = append(all, fetches...)
	}
	return all, nil
}

// wholeSite is readRenderedSite for tests.
func wholeSite(t testing.TB) []page.Fetch {
	t.Helper()
	all, err := readRenderedSite()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// siteBrowser renders the site without a browser. Each script of the site says in its first
// lines what it does.
type siteBrowser struct{}

func (siteBrowser) Version() uint64 { return 1 }

var (
	siteReference = regexp.MustCompile(`<(?:script|img) src="([^"]+)"|<link rel="stylesheet" href="([^"]+)"`)
	siteMount     = regexp.MustCompile(`data-page="([^"]+)"`)
)

func (siteBrowser) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	r := &observers.Rendering{Screenshot: []byte("picture of " + f.URL), Thumbnail: []byte("small")}
	get := func(ref string) ([]byte, error) {
		u, err := f.URL.Resolve(ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(r.Requests, u) {
			r.Requests = append(r.Requests, u)
		}
		got, err := lookup(ctx, u)
		if err != nil || got == nil {
			return nil, err
		}
		return got.Body, nil
	}
	var head, body strings.Builder
	name := "" // that the scripts know the page by
	if m := siteMount.FindSubmatch(f.Body); m != nil {
		name = string(m[1])
	}
	for _, m := range siteReference.FindAllSubmatch(f.Body, -1) {
		script, err := get(string(m[1]) + string(m[2]))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(script)) {
			words := strings.Fields(strings.TrimPrefix(line, "//! "))
			if !strings.HasPrefix(line, "//! ") || words[0] != name {
				continue
			}
			switch rest := strings.Join(words[2:], " "); words[1] {
			case "text":
				fmt.Fprintf(&body, "<p>%s</p>", rest)
			case "link":
				fmt.Fprintf(&body, "<p><a href='%s'>%s</a></p>", words[2], strings.Join(words[3:], " "))
			case "canonical":
				fmt.Fprintf(&head, "<link rel=canonical href='%s'>", rest)
			case "get":
				data, err := get(rest)
				if err != nil {
					return nil, err
				}
				var got struct{ Text string }
				if json.Unmarshal(data, &got) == nil {
					fmt.Fprintf(&body, "<p>%s</p>", got.Text)
				}
			}
		}
	}
	r.HTML = bytes.Replace(f.Body, []byte("</head>"), []byte(head.String()+"</head>"), 1)
	r.HTML = bytes.Replace(r.HTML, []byte("</div>"), []byte(body.String()+"</div>"), 1)
	return r, nil
}

// counted counts the renderings of each page.
type counted struct {
	observers.Renderer
	mu   sync.Mutex
	runs map[page.URL]int
}

func (c *counted) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	c.mu.Lock()
	if c.runs == nil {
		c.runs = make(map[page.URL]int)
	}
	c.runs[f.URL]++
	c.mu.Unlock()
	return c.Renderer.Render(ctx, f, lookup)
}

// want wants exactly these pages to have been rendered since the last call.
func (c *counted) want(t testing.TB, pages ...page.URL) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(pages)
	if got := slices.Sorted(maps.Keys(c.runs)); !slices.Equal(got, pages) {
		t.Errorf("rendered %v, want %v", c.runs, pages)
	}
	c.runs = nil
}
