package repository_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// What the tests of this package load. A string names a web, so that it can be passed to
// a child process: ownWebs, or WARC files separated by commas.

const (
	// ownWebs are the project's own small webs, all of them.
	ownWebs = "sites"
	// streamed before a list of files says that the child is to load fetches as it
	// reads them, with few in memory.
	streamed = "streamed:"
	// weak before a seed is a random web of duplicates whose ranks are near to each other,
	// of pages that pass on little.
	weak = "weak:"
	// giants before a seed is a random web of one cluster that is too large to be read
	// whole. It grows, and some of it, or most, goes away again.
	giants   = "giant:"
	siteGlob = "../testdata/sites/*.txt"
)

// readWeb reads the fetches of a web in the order of its files.
func readWeb(name string) (fetches []page.Fetch, err error) {
	if name == ownWebs {
		return readSites()
	}
	if name == renderedWeb {
		return readRenderedSite()
	}
	if seed, ok := strings.CutPrefix(name, weak); ok {
		return weakWeb(seed)
	}
	if seed, ok := strings.CutPrefix(name, giants); ok {
		return giantWeb(seed)
	}
	for _, file := range strings.Split(name, ",") {
		if fetches, err = appendWARC(fetches, file); err != nil {
			return nil, err
		}
	}
	return fetches, nil
}

func weakWeb(seed string) (fetches []page.Fetch, err error) {
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(n, 3))
	web := webtest.RandomWeb(rnd, 40)
	web.Contents, web.Shells, web.Canonicals, web.Redirects = 1+rnd.IntN(4), 0, web.Canonicals/4, web.Redirects/4
	web.Links, web.Weak = 1+rnd.IntN(3), 100-rnd.IntN(20)
	web.URLs, web.NoIndex = web.URLs+8, 0
	for _, f := range web.Make(rnd) {
		fetches = append(fetches, *f)
	}
	// A web may consist of one page that goes. This one stays, so that there is an answer.
	stays, err := webtest.ParseFetch("stays.example/ at=1 page text=stays")
	if err != nil {
		return nil, err
	}
	return append(fetches, *stays), nil
}

func giantWeb(seed string) (fetches []page.Fetch, err error) {
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(n, 4))
	members, stay := 700+rnd.IntN(700), rnd.IntN(100)
	member := func() int { return rnd.IntN(members) }
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range members {
		switch rnd.IntN(8) {
		case 0:
			add("g.example/m%d at=1 redirect=g.example/m%d", i, (i+1)%members)
		case 1:
			add("g.example/m%d at=1 page text=same link=g.example/m%d,inside", i, member())
		default:
			add("g.example/m%d at=1 page text=same", i)
		}
		switch k := rnd.IntN(100); {
		case k < stay:
		case k%3 == 0:
			add("g.example/m%d at=2 gone", i)
		case k%3 == 1:
			add("g.example/m%d at=2 page text=other%d", i, k%5)
		}
	}
	for i := range 60 {
		add("c.example/%d at=1 page text=c%d link=g.example/m%d,one link=g.example/m%d,two", i, i, member(), member()%20)
		if rnd.IntN(2) == 0 {
			add("c.example/%d at=3 page text=c%d link=g.example/m%d,three", i, i, member()%20)
		}
	}
	for _, line := range lines {
		f, err := webtest.ParseFetch(line)
		if err != nil {
			return nil, err
		}
		fetches = append(fetches, *f)
	}
	return fetches, nil
}

func readSites() (fetches []page.Fetch, err error) {
	files, err := filepath.Glob(siteGlob)
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no webs in %s: %w", siteGlob, err)
	}
	for _, file := range files {
		s, err := sites.Load(file)
		if err != nil {
			return nil, err
		}
		fetches = append(fetches, s.Fetches()...)
	}
	return fetches, nil
}

func appendWARC(fetches []page.Fetch, name string) ([]page.Fetch, error) {
	in, err := warc.Open(name, warc.Options{})
	if err != nil {
		return nil, err
	}
	for f, err := range in.Fetches() {
		if err != nil {
			return nil, err
		}
		f.Body = slices.Clone(f.Body)
		fetches = append(fetches, f)
	}
	return fetches, in.Close()
}

func mustReadWeb(t testing.TB, name string) []page.Fetch {
	t.Helper()
	fetches, err := readWeb(name)
	if err != nil {
		t.Fatal(err)
	}
	return fetches
}

// corpusPart names some sites of some snapshots of the recorded crawls as a web,
// or skips.
func corpusPart(t testing.TB, snapshots []string, hosts ...string) string {
	t.Helper()
	var files []string
	for _, s := range snapshots {
		for _, h := range hosts {
			file := filepath.Join(corpusDir, s, h+".apache.org.warc.gz")
			if _, err := os.Stat(file); err != nil {
				t.Skip("the recorded crawls of shared/corpus are not there")
			}
			files = append(files, file)
		}
	}
	return strings.Join(files, ",")
}

// shuffled returns a copy in another order.
func shuffled(r *rand.Rand, fetches []page.Fetch) []page.Fetch {
	fetches = slices.Clone(fetches)
	r.Shuffle(len(fetches), func(i, j int) { fetches[i], fetches[j] = fetches[j], fetches[i] })
	return fetches
}
