package observers_test

import (
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
)

// TestRankGoesBack: a run of rerank gives the index files a rank and dies before its commit. Before
// the next run, the rank goes back to what index:doc still says.
func TestRankGoesBack(t *testing.T) {
	t.Parallel()
	s, err := webtest.NewStage(t.Context(), observers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var fetches []*page.Fetch
	load := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			f, err := webtest.ParseFetch(line)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Load(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			fetches = append(fetches, f)
		}
	}
	run := func(observers ...string) {
		t.Helper()
		for _, o := range observers {
			if err := s.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	load("a.example/ at=1 page text=a link=b.example/", "b.example/ at=1 page text=b link=c.example/", "c.example/ at=1 page text=c")
	run("")
	load("a.example/ at=2 page text=a") // the rank of c falls, and nothing else about c changes
	run("document", "rank")
	if err := s.RunAndDie(t.Context(), "rerank"); err != nil {
		t.Fatal(err)
	}
	load("a.example/ at=3 page text=a link=b.example/")
	run("document", "rank", "")
	diff, err := webtest.Differences(t.Context(), s.DB, s.Sink.Documents(), fetches, webtest.Comparison{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diff {
		t.Errorf("differs from the batch: %s", d)
	}
}
