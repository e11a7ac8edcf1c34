package crawltest

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// toyBrowser runs the scripts of these tests: a script is lines that say "get", for the data
// that the page names, and "link URL". What it makes of a page depends only on the fetches, as
// with a real browser, and it takes no time to start.
type toyBrowser struct{}

func (toyBrowser) Version() uint64 { return 1 }

var (
	toySource = regexp.MustCompile(`src="([^"]*)"`)
	toyData   = regexp.MustCompile(`data-get="([^"]*)"`)
	toyLink   = regexp.MustCompile(`<a href="[^"]*">[^<]*</a>`)
)

func (toyBrowser) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	made := &observers.Rendering{}
	var out bytes.Buffer
	out.WriteString("<title>Shop</title>")
	load := func(ref string) (string, error) {
		for range 3 {
			u, err := f.URL.Resolve(ref)
			if err != nil {
				return "", err
			}
			made.Requests = append(made.Requests, u)
			got, err := lookup(ctx, u)
			if err != nil || got == nil {
				return "", err
			}
			if ref = got.Header.Get("Location"); ref == "" {
				return string(got.Body), nil
			}
			ref = u.Site() + ref
		}
		return "", nil
	}
	for _, found := range toySource.FindAllSubmatch(f.Body, -1) {
		script, err := load(string(found[1]))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(script) {
			verb, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch verb {
			case "get":
				text, err := load(string(toyData.FindSubmatch(f.Body)[1]))
				if err != nil {
					return nil, err
				}
				out.WriteString("<p>" + html.EscapeString(text))
			case "link":
				fmt.Fprintf(&out, `<a href="%s">%s</a>`, ref, "more")
			}
		}
	}
	// What is in the page stays there. Without its links, a page of a crawl that is killed
	// before it has found them would lead nowhere once it is rendered.
	for _, link := range toyLink.FindAll(f.Body, -1) {
		out.Write(link)
	}
	made.HTML = out.Bytes()
	return made, nil
}

// rendered makes a setting one of a crawl that renders.
func rendered(s Setting) Setting {
	s.Render, s.Renderer = "auto", toyBrowser{}
	return s
}

// TestRender crawls a page whose text and links come from a script of another host, which
// loads data. One crawl completes it. The crawl fetches nothing that robots.txt disallows, and
// neither links nor sitemaps of the host that only has resources.
func TestRender(t *testing.T) {
	t.Parallel()
	w := ServeFile(t, "render.txt")
	s := rendered(NewSetting(t.TempDir(), time.Millisecond, w.URL("http://shop.ip120/")))
	docs, digest := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, time.Millisecond)
	for _, d := range docs {
		if w.nameOf(string(d.URL)) == "shop.ip120/" && (!strings.Contains(d.Text, "lit at dusk") || d.Title != "Shop") {
			t.Errorf("%s has the title %q and the text %q", d.URL, d.Title, d.Text)
		}
	}
	if names := fmt.Sprint(w.Members(docs)); names != "[shop.ip120/ shop.ip120/about]" {
		t.Errorf("the index has %s", names)
	}
	opts := repository.Options{Render: s.Render, Renderer: s.Renderer}
	if _, replayed := ReplayWith(t, s.WARC, opts); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}

	session := openCrawl(t, s)
	defer closeCrawl(t, session)
	// The page, its script, the data, the image and the redirect to it, and that a resource is
	// missing; not what was forbidden.
	var wacz bytes.Buffer
	res, err := session.Repo.ExportAs(t.Context(), repository.ExportOptions{
		Choice: export.Choice{Format: export.FormatWACZ, Table: export.Pages}, URLs: []page.URL{w.URL("http://shop.ip120/")},
	}, &wacz)
	if err != nil || res.Documents != 1 || res.Captures != 6 || res.Missing != 1 {
		t.Errorf("the WACZ of the page has %+v, %v", res, err)
	}
	for name, want := range map[string]string{
		"http://cdn.ip121/app.js":           "resource: is a resource of ",
		"http://shop.ip120/secret/count.js": "resource: ",
		"http://cdn.ip121/logo-2.png":       "resource: is a resource of ",
	} {
		i, err := frontier.Inspect(t.Context(), session.Repo.DB(), w.URL(name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(i.Rule+": "+i.Why, want) {
			t.Errorf("%s: %s: %s, want %s", name, i.Rule, i.Why, want)
		}
	}
}

// TestRenderOff is the same crawl without rendering: it knows the shell alone.
func TestRenderOff(t *testing.T) {
	t.Parallel()
	w := ServeFile(t, "render.txt")
	docs, _ := crawlOnce(t, NewSetting(t.TempDir(), time.Millisecond, w.URL("http://shop.ip120/")))
	if names := fmt.Sprint(w.Members(docs)); names != "[shop.ip120/]" {
		t.Errorf("the index has %s", names)
	}
	if n := len(w.Counts()); n != 1 {
		t.Errorf("%d URLs were requested, besides robots.txt: %v", n-1, w.Counts())
	}
}

// TestRenderWithoutBrowser: a crawl that cannot render fetches no resources. When there is a
// browser, the next run completes the page.
func TestRenderWithoutBrowser(t *testing.T) {
	t.Parallel()
	w := ServeFile(t, "render.txt")
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://shop.ip120/"))
	s.Render = "auto"
	crawlOnce(t, s)
	if n := len(w.Counts()); n != 1 {
		t.Errorf("%d URLs were requested, besides robots.txt: %v", n-1, w.Counts())
	}
	docs, _ := crawlOnce(t, rendered(s))
	if names := fmt.Sprint(w.Members(docs)); names != "[shop.ip120/ shop.ip120/about]" {
		t.Errorf("after that the index has %s", names)
	}
}

// TestRenderExcluded: --exclude keeps resources out, too.
func TestRenderExcluded(t *testing.T) {
	t.Parallel()
	w := ServeFile(t, "render.txt")
	s := rendered(NewSetting(t.TempDir(), time.Millisecond, w.URL("http://shop.ip120/")))
	s.Config.Exclude = []string{`\.png$`}
	crawlOnce(t, s)
	for name, n := range w.Counts() {
		if strings.HasSuffix(name, ".png") && n > 0 {
			t.Errorf("%s was requested %d times", name, n)
		}
	}
}

// TestRenderKilled kills such a crawl at random steps, and continues it each time.
func TestRenderKilled(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	const pages = 25
	fmt.Fprintf(&text, "-- 2024-01-01 http://cdn.ip123/app.js --\nContent-Type: text/javascript\n\nget\n")
	for i := range pages {
		fmt.Fprintf(&text, "-- 2024-01-01 http://shop.ip122/%d --\n<title>Loading</title><div id=\"root\" data-get=\"http://cdn.ip123/data/%d\"></div><script src=\"http://cdn.ip123/app.js\"></script><a href=\"/%d\">next</a>\n", i, i, (i+1)%pages)
		fmt.Fprintf(&text, "-- 2024-01-01 http://cdn.ip123/data/%d --\nContent-Type: application/json\n\nLamp number %d is lit at dusk and put out at dawn by the keeper, who writes it down in log book %d at once.\n", i, i, i)
	}
	w := Serve(t, text.String())
	killed(t, w, rendered(NewSetting(t.TempDir(), childDelay, w.URL("http://shop.ip122/0"))))
}

// childRenders makes the child process render.
const childRenders = "CRAWLTEST_CHILD_RENDERS"

func childRendering(s Setting) Setting {
	if os.Getenv(childRenders) != "" {
		return rendered(s)
	}
	return s
}
