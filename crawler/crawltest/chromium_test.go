package crawltest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/repository"
)

const chromiumWeb = `
-- 2024-01-01 http://pier.ip124/ --
<title>Loading</title><div id="root"></div><script src="http://cdn.ip125/app.js"></script><link rel=stylesheet href=/style.css><img src="/secret/pixel.png" alt="">
-- 2024-01-01 http://cdn.ip125/app.js --
Content-Type: text/javascript

fetch("http://pier.ip124/data.json").then(r => r.json()).then(d => {
  document.title = d.title;
  document.getElementById("root").innerHTML = "<p>" + d.text + "</p><a href='/about'>about the pier</a>";
});
-- 2024-01-01 http://pier.ip124/data.json --
Content-Type: application/json

{"title": "The pier", "text": "Boats leave at dusk and come back at dawn, when the lamp of the lighthouse is put out and the keeper goes to bed."}
-- 2024-01-01 http://pier.ip124/style.css --
Content-Type: text/css

body { background: url(/wood.png) }
-- 2024-01-01 http://pier.ip124/wood.png --
Content-Type: image/png
@base64: yes

iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==
-- 2024-01-01 http://pier.ip124/about --
<title>About</title><p>The pier was built in 1871 of oak and iron, and has been repaired after each storm since by those who live from it.
-- 2024-01-01 http://pier.ip124/secret/pixel.png --
X-Expect: 0
Content-Type: image/png

x
-- 2024-01-01 http://pier.ip124/robots.txt --
Content-Type: text/plain

User-agent: *
Disallow: /secret/
`

// TestChromium crawls a page whose text is made by a script of another host, which fetches data,
// in a real browser. One crawl completes it, also one that is stopped in the middle, and a
// replay of what was recorded gives the same index.
func TestChromium(t *testing.T) {
	t.Parallel()
	path, err := render.Find("")
	if err != nil {
		t.Skip("no browser: ", err)
	}
	browser := render.New(render.Options{Path: path})
	testenv.CloseAtEnd(t, browser)
	w := Serve(t, chromiumWeb)
	setting := func() Setting {
		s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://pier.ip124/"))
		s.Render, s.Renderer = "auto", repository.Chromium{Browser: browser}
		return s
	}
	s := setting()
	docs, digest := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	found := false
	for _, d := range docs {
		found = found || w.nameOf(string(d.URL)) == "pier.ip124/" && d.Title == "The pier" && strings.Contains(d.Text, "Boats leave at dusk")
	}
	if !found || len(docs) != 2 {
		t.Errorf("the index has %+v", docs)
	}
	if _, replayed := ReplayWith(t, s.WARC, repository.Options{Render: s.Render, Renderer: s.Renderer}); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}

	stopped := setting()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped.Say = func(event, what string) {
		if event == "visited" && strings.HasSuffix(what, "/app.js") {
			stop()
		}
	}
	session, err := Open(t.Context(), stopped)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := session.Repo.Close(); err != nil {
		t.Fatal(err)
	}
	stopped.Say = nil
	if _, again := crawlOnce(t, stopped); again != digest {
		t.Errorf("stopped and continued, the digest is %s, undisturbed %s", again, digest)
	}
}
