package crawltest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestSoftNotFound: a host answers 200 for everything, with a clock on the page, even
// for its first pages. The index keeps its real pages and no others: false pages loaded
// before the host was understood are taken back. The archive's replay gives the same
// index.
func TestSoftNotFound(t *testing.T) {
	t.Parallel()
	nav := `<p>Home News Sport Weather Travel Money Letters Archive Contact About this newspaper and its editors</p>`
	for _, c := range []struct {
		name, host string
		sorry      string // with a number that is different each time
		gone       bool   // whether it is understood
	}{
		{"alike", "alike.ip45", "Sorry, we could not find what you look for on this host.", true},
		{"a clock", "clock.ip46", "Sorry, we could not find what you look for. It is Sunday, 22 Nov, 10:%[1]d:00 pm. Request a%[1]dbc.", true},
		{"a word that varies", "word.ip47", "Sorry, we could not find what you look for on this host, dear %[2]s friend.", true},
		{"varies too much", "much.ip48", "%[2]s one %[2]s two %[2]s three %[2]s four %[2]s five %[2]s six %[2]s", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			w := Serve(t, strings.ReplaceAll(`-- 2024-01-01 http://HOST/robots.txt --
Content-Type: text/plain

User-agent: *
-- 2024-01-01 http://from.ip49/ --
<title>From</title><p>The first page of the other host that is found, from here, does not exist there any more, nor does the second one.
<a href="http://HOST/missing/first">missing</a> <a href="http://HOST/missing/second">missing</a> <a href="http://HOST/real/1">real</a>
`, "HOST", c.host))
			w.Make(c.host, func(path string) (string, bool) {
				switch path {
				case "/real/1":
					return "<title>Real</title>" + nav + `One. <a href="/real/2">x</a> <a href="/missing/third">x</a>`, true
				case "/real/2":
					return "<title>Real too</title>" + nav + "Two.", true
				}
				k := n.Add(1)
				said, _, _ := strings.Cut(fmt.Sprintf(c.sorry, k, strings.Repeat("x", int(k))), "%!(EXTRA")
				return "<title>The Paper</title>" + nav + said, true
			})
			s := NewSetting(t.TempDir(), 20*time.Millisecond, w.URL("http://from.ip49/"))
			s.Config.Scope = "any"
			docs, digest := crawlOnce(t, s)
			want := []string{"from.ip49/", c.host + "/real/1", c.host + "/real/2"}
			if !c.gone {
				for _, m := range []string{"first", "second", "third"} {
					want = append(want, c.host+"/missing/"+m)
				}
			}
			checkMembers(t, w.Members(docs), want)
			w.CheckPoliteness(t, 20*time.Millisecond)
			if _, replayed := Replay(t, s.WARC); replayed != digest {
				t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
			}
		})
	}
}
