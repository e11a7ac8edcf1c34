package repository_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// checkSearch asks a repository with a history, and one that was filled with nothing but
// the fetches in force, the same questions: words and phrases of all that was ever
// fetched, and anchors. They find the same. (What is found is a matter of the inverted
// index, which verify does not read: an entry that a removed page has left there shows
// here.)
func checkSearch(t *testing.T, rnd *rand.Rand, r *repository.Repository, fetches []page.Fetch, questions int) {
	t.Helper()
	fresh := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, fresh)
	load(t, fresh, 4, newest(fetches))
	asked, found := draw(rnd, fetches, questions), 0
	answers := [2]map[string][]string{}
	for i, repo := range []*repository.Repository{r, fresh} {
		q, err := repo.Quiet(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answers[i] = make(map[string][]string)
		for _, words := range asked {
			// Verbatim: which spellings are suggested depends on words that were once there.
			res, err := q.Index.(filesView).Search(t.Context(), words, search.Options{Verbatim: true, Limit: search.MaxResults})
			if err != nil {
				t.Fatalf("search %q: %v", words, err)
			}
			answers[i][words] = hits(res)
			found += len(res.Hits)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range asked {
		if got, want := answers[0][words], answers[1][words]; !slices.Equal(got, want) {
			t.Errorf("search %q finds\n%s\nwant\n%s", words, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d searches with %d hits", len(asked), found/2)
}

// hits formats the results of a search, without what depends on the last digits of
// ranks.
func hits(res *search.Results) []string {
	list := []string{fmt.Sprintf("%d, %d with all words", res.Total, res.AllWords)}
	for _, h := range res.Hits {
		list = append(list, fmt.Sprintf("%s %q %q also %q, %d inlinks", h.URL, h.Title, h.Snippet.Text, h.Duplicates, h.Inlinks))
	}
	slices.Sort(list)
	return list
}

// draw draws words, phrases and anchors of fetches, old ones as well.
func draw(rnd *rand.Rand, fetches []page.Fetch, n int) (asked []string) {
	for len(asked) < n {
		doc := page.Interpret(&fetches[rnd.IntN(len(fetches))])
		words := strings.Fields(doc.Title + " " + doc.Text)
		if len(doc.Links) > 0 && rnd.IntN(4) == 0 {
			words = strings.Fields(doc.Links[rnd.IntN(len(doc.Links))].Anchor)
		}
		words = slices.DeleteFunc(words, func(w string) bool {
			return strings.ContainsAny(w, `"-:()+*`) || !strings.ContainsFunc(w, unicode.IsLetter)
		})
		if len(words) == 0 {
			if rnd.IntN(20) == 0 {
				asked = append(asked, "nothing") // where there are no pages
			}
			continue
		}
		i := rnd.IntN(len(words))
		switch question := words[i]; {
		case i+1 < len(words) && rnd.IntN(3) == 0:
			asked = append(asked, `"`+question+" "+words[i+1]+`"`)
		case i+1 < len(words) && rnd.IntN(3) == 0:
			asked = append(asked, question+" "+words[rnd.IntN(len(words))])
		default:
			asked = append(asked, question)
		}
	}
	return asked
}

// TestSearchedAfterHistory: pages that changed, moved, hid or went away are found by what
// they say now, in whichever order that came.
func TestSearchedAfterHistory(t *testing.T) {
	rnd := testenv.Random(t)
	webs := []string{ownWebs, fmt.Sprint(weak, rnd.Uint64()), fmt.Sprint(weak, rnd.Uint64())}
	questions := testenv.Size(40, 80, 300)
	if !testing.Short() {
		webs = append(webs, fmt.Sprint(giants, rnd.Uint64()))
	}
	for _, web := range webs {
		t.Run(strings.SplitN(web, ":", 2)[0], func(t *testing.T) { searchAfter(t, rnd, web, questions) })
	}
	t.Run("crawls", func(t *testing.T) {
		if testing.Short() {
			t.Skip("a minute of work")
		}
		hosts := []string{"lucene"}
		if testenv.Long() {
			hosts = []string{"community", "flink", "httpd", "incubator", "kafka", "lucene"}
		}
		searchAfter(t, rnd, corpusPart(t, []string{"t0", "t1", "t2"}, hosts...), questions)
	})
}

// searchAfter loads the fetches of a web in parts, so that what comes later removes and
// changes what is in the index files.
func searchAfter(t *testing.T, rnd *rand.Rand, web string, questions int) {
	fetches := mustReadWeb(t, web)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	order := shuffled(rnd, fetches)
	for part := range slices.Chunk(order, len(order)/4+1) {
		load(t, r, 4, part)
	}
	checkSearch(t, rnd, r, fetches, questions)
}
