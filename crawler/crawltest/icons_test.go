package crawltest

import (
	"bytes"
	"errors"
	"image/color"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon/icontest"
	"github.com/webindexer/indexer/repository/inspect"
)

const iconsWeb = `-- 2024-01-01 http://robots.ip131/robots.txt --
Content-Type: text/plain

User-agent: *
Disallow: /favicon.ico
-- 2024-01-01 http://lamp.ip132/ --
<title>Lamps</title><p>A page about lamps, which has two more below it. <a href="/a">one</a> <a href="/b">two</a>
<a href="http://robots.ip131/">forbidden</a> <a href="http://page.ip133/">page</a> <a href="http://gone.ip134/">gone</a>
-- 2024-01-01 http://lamp.ip132/a --
<title>Lamps, one</title><p>The first page about lamps, with a bright one on it.
-- 2024-01-01 http://lamp.ip132/b --
<title>Lamps, two</title><p>The second page about lamps, with a dark one on it.
-- 2024-01-01 http://robots.ip131/ --
<title>Forbidden</title><p>A host that keeps its icon for itself, whatever it may look like.
-- 2024-01-01 http://page.ip133/ --
<title>Page</title><p>A host with a page where others have their icon.
-- 2024-01-01 http://page.ip133/favicon.ico --
<title>Sorry</title><p>This is a page that says, with status 200, that nothing is here.
-- 2024-01-01 http://gone.ip134/ --
<title>Gone</title><p>A host without an icon, which says so.
`

// TestIcons: a crawl that wants icons asks each host for one, once, and keeps it; one that does
// not want them makes no such request.
func TestIcons(t *testing.T) {
	eachIconsSetting(t, func(t *testing.T, wanted bool) {
		w := Serve(t, iconsWeb)
		image := icontest.ICO(icontest.Bitmap(16, color.Gray{Y: 90}))
		w.Handle("lamp.ip132", func(out http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/favicon.ico" {
				return false
			}
			out.Header().Set("Content-Type", "image/vnd.microsoft.icon")
			_, _ = out.Write(image)
			return true
		})
		s := iconsSetting(t, w.URL("http://lamp.ip132/"), wanted)
		docs, digest := crawlOnce(t, s)
		checkMembers(t, w.Members(docs), []string{"lamp.ip132/", "lamp.ip132/a", "lamp.ip132/b", "robots.ip131/", "page.ip133/", "gone.ip134/"})
		asked, want := w.Counts(), map[string]int{}
		maps.DeleteFunc(asked, func(name string, _ int) bool { return !strings.HasSuffix(name, "/favicon.ico") })
		if wanted {
			want = map[string]int{"lamp.ip132/favicon.ico": 1, "page.ip133/favicon.ico": 1, "gone.ip134/favicon.ico": 1}
		}
		compareCounts(t, asked, want)
		w.CheckPoliteness(t, time.Millisecond)
		if _, replayed := Replay(t, s.WARC); replayed != digest {
			t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
		}
		session := openCrawl(t, s)
		defer closeCrawl(t, session)
		kept, err := inspect.Icon(t.Context(), session.Repo.DB(), w.URL("http://lamp.ip132/a"))
		if wanted && (err != nil || !bytes.Equal(kept, image)) || !wanted && !errors.Is(err, inspect.ErrNoIcon) {
			t.Errorf("an icon of %d bytes: %v", len(kept), err)
		}
	})
}

// eachIconsSetting runs a test of a crawl that wants icons, and of one with the default.
func eachIconsSetting(t *testing.T, test func(t *testing.T, wanted bool)) {
	t.Parallel()
	for name, wanted := range map[string]bool{"wanted": true, "by default": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, wanted)
		})
	}
}

// iconsSetting is a crawl of all hosts from a seed, with or without icons.
func iconsSetting(t *testing.T, seed page.URL, wanted bool) Setting {
	s := NewSetting(t.TempDir(), time.Millisecond, seed)
	s.Config.Scope = "any"
	s.Options.Sources.Icons = wanted
	return s
}
