package sites

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/verify/batch"

	"github.com/pmezard/go-difflib/difflib"
)

// rewriting says whether to rewrite expected results; the flag is datadriven's.
func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

const (
	siteDir     = "../../testdata/sites"
	expectedDir = "../../testdata/expected"
)

// document is a line of an expected result: an index document without what
// depends on numbers of iterations or on hashes.
type document struct {
	URL      page.URL   `json:"url"`
	Title    string     `json:"title"`
	Text     string     `json:"text"`
	Language string     `json:"language"`
	Members  []page.URL `json:"members"`
	Inlinks  []inlink   `json:"inlinks"`
}

type inlink struct {
	Source page.URL `json:"source"`
	Target page.URL `json:"target"`
	Anchor string   `json:"anchor"`
}

// allSites parses all webs of the project.
func allSites(t testing.TB) []*Site {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(siteDir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sites in %s: %v", siteDir, err)
	}
	sites := make([]*Site, len(files))
	for i, file := range files {
		if sites[i], err = Load(file); err != nil {
			t.Fatal(err)
		}
	}
	return sites
}

// TestGolden computes each web in one batch and compares it with the expected
// result, which was checked by eye against the comment that the web begins with.
// Fetches are added in both orders, since the order of arrival must not matter.
func TestGolden(t *testing.T) {
	for _, s := range allSites(t) {
		t.Run(s.Name, func(t *testing.T) {
			fetches := s.Fetches()
			got := export(t, fetches)
			slices.Reverse(fetches)
			if backwards := export(t, fetches); backwards != got {
				t.Errorf("the order of arrival matters:\n%s", diff(got, backwards))
			}
			file := filepath.Join(expectedDir, s.Name+".jsonl")
			if rewriting() {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("not as expected (-rewrite writes anew):\n%s", diff(string(want), got))
			}
		})
	}
}

// export is the index of the fetches, a line per document.
func export(t *testing.T, fetches []page.Fetch) string {
	t.Helper()
	ranks := rank(builder(fetches).Finish(nil))
	repo := builder(fetches).Finish(func(u page.URL) float64 { return ranks[u] })
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for c := range repo.Index() {
		shown := repo.URL(c.Canonical).Document
		d := document{URL: c.Canonical, Title: shown.Title, Text: shown.Text, Language: shown.Language,
			Members: c.Members, Inlinks: []inlink{}}
		for _, l := range c.Inlinks {
			d.Inlinks = append(d.Inlinks, inlink(l))
		}
		if err := enc.Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func builder(fetches []page.Fetch) *batch.Builder {
	b := batch.New()
	for i := range fetches {
		b.Add(&fetches[i])
	}
	return b
}

// rank iterates semantics.md section 6 until nothing changes.
func rank(repo *batch.Repository) map[page.URL]float64 {
	ranks, next := map[page.URL]float64{}, map[page.URL]float64{}
	for change := 1.0; change > 1e-12; ranks, next = next, ranks {
		for u := range repo.URLs() {
			next[u.URL] = 0.15
		}
		for u := range repo.URLs() {
			edges := u.Edges()
			for _, v := range edges {
				next[v] += 0.85 * ranks[u.URL] / float64(len(edges))
			}
		}
		change = 0
		for u, r := range next {
			change = max(change, math.Abs(r-ranks[u]))
		}
	}
	return ranks
}

func diff(want, got string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(want), B: difflib.SplitLines(got), FromFile: "expected", ToFile: "got", Context: 1,
	})
	if err != nil {
		return err.Error()
	}
	return text
}
