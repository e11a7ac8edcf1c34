package crawltest

import (
	"os"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
)

// TestKill kills a crawl at random steps of its work, and continues it each time. In
// the end the index equals that of an undisturbed crawl, and so does the archive's
// replay. Nothing was requested again except what was under way at a kill: for each
// host, the page whose visit was not yet committed.
func TestKill(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/kill.txt")
	if err != nil {
		t.Fatal(err)
	}
	w := Serve(t, string(text)+plainPages("left.ip20", 60)+plainPages("right.ip21", 60))
	killed(t, w, NewSetting(t.TempDir(), childDelay, w.URL("http://left.ip20/"), w.URL("http://right.ip21/")))
}

// TestKillTLS is TestKill over HTTP/2, with hosts whose pages redirect to each other.
func TestKillTLS(t *testing.T) {
	t.Parallel()
	w := Serve(t, tlsWeb("left.ip22", "right.ip23", 60))
	s := NewSetting(t.TempDir(), childDelay, w.URL("https://left.ip22/"), w.URL("https://right.ip23/"))
	if err := trust(&s.Fetch, w.Roots()); err != nil {
		t.Fatal(err)
	}
	killed(t, w, s)
}

func killed(t *testing.T, w *Web, s Setting) {
	t.Helper()
	kills := 20
	if testing.Short() {
		kills = 5
	}
	rng := testenv.Random(t)
	var env []string
	if s.Renderer != nil {
		env = []string{childRenders + "=1"}
	}
	_, want := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	expected := w.Expected(t)
	w.Forget()

	dir := t.TempDir()
	tally := tally{web: w, expected: expected, committed: make(map[string]int)}
	for tally.kills < kills {
		// A page is four lines. Some kills come before the first.
		story := runChildUntil(t, w, dir, s.Seeds, 1+rng.IntN(4*len(expected)/kills), env...)
		tally.count(t, story)
		if story.digest != "" {
			break // it came to its end
		}
		tally.kills++
	}
	last := runChildUntil(t, w, dir, s.Seeds, 0, env...)
	tally.count(t, last)
	if tally.kills < kills {
		t.Errorf("the crawl ended after %d kills: the test's web is too small", tally.kills)
	}
	if last.digest != want {
		t.Errorf("after the kills the digest is %q, undisturbed %q", last.digest, want)
	}
	tally.check(t)
	again := NewSetting(dir, childDelay)
	again.Render, again.Renderer = s.Render, s.Renderer
	if _, replayed := ReplayWith(t, again.WARC, repository.Options{Render: s.Render, Renderer: s.Renderer}); replayed != want {
		t.Errorf("the archive's replay has digest %s, undisturbed %s", replayed, want)
	}
	reopened, err := Open(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	Verify(t, reopened.Repo)
	if err := reopened.Repo.Close(); err != nil {
		t.Error(err)
	}
}

// tally is what the children said together.
type tally struct {
	web       *Web
	expected  map[string]int
	kills     int
	underWay  int            // pages requested and not committed, at all kills
	committed map[string]int // visits by name
}

func (y *tally) count(t *testing.T, s story) {
	t.Helper()
	underWay := make(map[string]bool)
	for _, u := range s.begun {
		if name := y.web.nameOf(u); y.expected[name] > 0 {
			underWay[name] = true
		}
	}
	for _, u := range s.visited {
		name := y.web.nameOf(u)
		y.committed[name]++
		delete(underWay, name)
	}
	const hosts = 2 // each asked for one page at a time
	if len(underWay) > hosts {
		t.Errorf("%d pages were under way at once: %v", len(underWay), underWay)
	}
	y.underWay += len(underWay)
}

// check compares what was requested with what was committed and under way.
func (y *tally) check(t *testing.T) {
	t.Helper()
	for name, n := range y.committed {
		if n > 1 {
			t.Errorf("the visit of %s was committed %d times", name, n)
		}
	}
	repeated, counts := 0, y.web.Counts()
	for name, n := range y.expected {
		switch got := counts[name]; {
		case n == 0 && got > 0 || got < n:
			t.Errorf("%s was requested %d times, want %d", name, got, n)
		default:
			repeated += got - n
		}
	}
	t.Logf("%d kills, %d pages under way then, %d requested again", y.kills, y.underWay, repeated)
	if repeated > y.underWay {
		t.Errorf("%d pages were requested again, and only %d were under way at the kills", repeated, y.underWay)
	}
}
