package crawltest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

// TestFrames crawls documentation in a frameset, which has no link to any of its pages.
// The crawl finds them through frames, under the rules for links. The index knows
// nothing about frames: no links, no ranks.
func TestFrames(t *testing.T) {
	t.Parallel()
	w := ServeFile(t, "frames.txt")
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://docs.ip115/"))
	docs, digest := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, time.Millisecond)
	checkMembers(t, w.Members(docs), w.indexed())
	if _, replayed := Replay(t, s.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}

	session := openCrawl(t, s)
	defer closeCrawl(t, session)
	root := inspected(t, session.Repo, w.URL("http://docs.ip115/"))
	var frames []string
	for _, u := range root.Frames {
		frames = append(frames, w.nameOf(string(u)))
	}
	want := []string{"docs.ip115/overview-frame.html", "docs.ip115/allclasses-frame.html", "docs.ip115/overview-summary.html"}
	if !slices.Equal(frames, want) || len(root.Outlinks) != 0 {
		t.Errorf("the frames of the root are %q, want %q; its links are %v", frames, want, root.Outlinks)
	}
	for _, name := range []string{"overview-frame.html", "usage.html"} {
		i := inspected(t, session.Repo, w.URL("http://docs.ip115/"+name))
		if rank := fmt.Sprintf("%.4f", *i.URLRank); len(i.Inlinks) != 0 || rank != "0.1500" {
			t.Errorf("%s has %d links from others and rank %s; frames give it none", name, len(i.Inlinks), rank)
		}
	}
}

func inspected(t testing.TB, r *repository.Repository, u page.URL) *inspect.Inspection {
	t.Helper()
	i, err := inspect.URL(t.Context(), r, u, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestFrameDepth: a frame is as far from the seed as a link.
func TestFrameDepth(t *testing.T) {
	t.Parallel()
	w := ServeFile(t, "frames.txt")
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://docs.ip115/"))
	s.Config.MaxDepth, s.WARC = 1, ""
	crawlOnce(t, s)
	w.CheckCounts(t, map[string]int{
		"docs.ip115/": 1, "docs.ip115/overview-frame.html": 1, "docs.ip115/allclasses-frame.html": 1, "docs.ip115/overview-summary.html": 1,
	})
}
