package crawltest

import (
	"bytes"
	"image/color"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page/icon/icontest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

const namedIconsWeb = `-- 2024-01-01 http://lamp.ip135/ --
<title>Lamps</title><link rel=icon href=/img/lamp.png><link rel=icon href=/img/none.png><link rel=icon href=/img/third.png>
<body><p>A page about lamps, which has one more below it. <a href="/a">one</a>
<a href="http://moved.ip136/">moved</a> <a href="http://robots.ip137/">forbidden</a> <a href="http://page.ip138/">page</a>
<a href="http://away.ip139/">away</a> <a href="http://login.ip140/">login</a>
-- 2024-01-01 http://lamp.ip135/a --
<title>Lamps, one</title><link rel=icon href=/img/of-a.png><body><p>The first page about lamps, with a bright one on it.
-- 2024-01-01 http://moved.ip136/ 302 /en/ --
-- 2024-01-01 http://moved.ip136/en/ --
<title>Moved</title><link rel="shortcut icon" href=en.png><body><p>A host whose front page is in a directory of its language.
-- 2024-01-01 http://robots.ip137/robots.txt --
Content-Type: text/plain

User-agent: *
Disallow: /img/
-- 2024-01-01 http://robots.ip137/ --
<title>Forbidden</title><link rel=icon href=/img/lamp.png><body><p>A host that keeps its icon for itself, whatever it may look like.
-- 2024-01-01 http://page.ip138/ --
<title>Page</title><link rel=icon href=/img/lamp.png><body><p>A host with a page where the icon should be that it names.
-- 2024-01-01 http://page.ip138/img/lamp.png --
<title>Sorry</title><p>This is a page that says, with status 200, that nothing is here.
-- 2024-01-01 http://away.ip139/ --
<title>Away</title><link rel=icon href=http://lamp.ip135/img/away.png><body><p>A host that names the icon of another one.
-- 2024-01-01 http://login.ip140/ --
<title>Login</title><p>A host that asks everybody who looks for its icon to log in first.
-- 2024-01-01 http://login.ip140/favicon.ico 302 /login --
-- 2024-01-01 http://login.ip140/login --
<title>Please log in</title><p>This is a page with a form for a name and a password.
`

// TestNamedIcons: a crawl that wants icons asks each host for those that its front page names, two
// at most, and keeps them. Neither pages that come in their place nor other hosts' icons count. A
// replay has the same icons.
func TestNamedIcons(t *testing.T) {
	eachIconsSetting(t, func(t *testing.T, wanted bool) {
		w := Serve(t, namedIconsWeb)
		image := icontest.PNG(32, color.Gray{Y: 90})
		for _, host := range []string{"lamp.ip135", "moved.ip136", "robots.ip137"} {
			w.Handle(host, func(out http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, ".png") || strings.HasSuffix(r.URL.Path, "none.png") {
					return false
				}
				out.Header().Set("Content-Type", "image/png")
				_, _ = out.Write(image)
				return true
			})
		}
		s := iconsSetting(t, w.URL("http://lamp.ip135/"), wanted)
		docs, digest := crawlOnce(t, s)
		checkMembers(t, w.Members(docs), []string{"lamp.ip135/", "lamp.ip135/a", "moved.ip136/", "moved.ip136/en/", "robots.ip137/", "page.ip138/", "away.ip139/", "login.ip140/"})
		asked, want := w.Counts(), map[string]int{}
		maps.DeleteFunc(asked, func(name string, _ int) bool {
			return !strings.HasSuffix(name, ".png") && !strings.HasSuffix(name, "/login")
		})
		if wanted {
			want = map[string]int{"lamp.ip135/img/lamp.png": 1, "lamp.ip135/img/none.png": 1, "moved.ip136/en/en.png": 1, "page.ip138/img/lamp.png": 1, "login.ip140/login": 1}
		}
		compareCounts(t, asked, want)
		w.CheckPoliteness(t, time.Millisecond)
		session := openCrawl(t, s)
		checkIcons(t, w, session.Repo, wanted, image)
		closeCrawl(t, session)
		replayed := openReplay(t, s.WARC, repository.Options{})
		checkIcons(t, w, replayed, wanted, image)
		if _, again := Export(t, replayed); again != digest {
			t.Errorf("the archive's replay has digest %s, the crawl %s", again, digest)
		}
	})
}

// checkIcons looks for the icon of each host.
func checkIcons(t *testing.T, w *Web, r *repository.Repository, wanted bool, image []byte) {
	t.Helper()
	for _, host := range []string{"lamp.ip135", "moved.ip136", "robots.ip137", "page.ip138", "away.ip139", "login.ip140"} {
		has := wanted && (host == "lamp.ip135" || host == "moved.ip136")
		kept, err := inspect.Icon(t.Context(), r.DB(), w.URL("http://"+host+"/"))
		if has != (err == nil) || has && !bytes.Equal(kept, image) {
			t.Errorf("%s has an icon of %d bytes: %v", host, len(kept), err)
		}
	}
}
