package search

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestPageKey: what is taken out of addresses and titles.
func TestPageKey(t *testing.T) {
	for _, c := range []struct{ url, title, lang, path, bare, version, language string }{
		{"https://www.a.example/docs/1.26/guide.html", "Guide — Tool 1.26", "en", "docs/guide.html", "guide — tool", "1.26", ""},
		{"https://a.example/docs/v2/guide", "Guide", "en", "docs/guide", "guide", "v2", ""},
		{"https://a.example/docs/latest/guide", "Guide (1.26)", "en", "docs/guide", "guide", "latest", ""},
		{"https://a.example/docs/guide", "Guide (1.26)", "en", "docs/guide", "guide", "1.26", ""},
		{"https://a.example/34/guide", "", "en", "guide", "", "34", ""},
		{"https://a.example/2024/05/31/tool-1.2.3-released/", "Tool 1.2.3", "en", "tool-released/", "tool", "1.2.3", ""},
		{"https://a.example/2024/05/31/released/", "Tool 1.2.3", "en", "released/", "tool", "1.2.3", ""},
		{"https://a.example/2024/05/31/news/", "News", "en", "news/", "news", "2024-05-31", ""},
		{"https://a.example/34/guide-1.2/", "Guide", "en", "guide/", "guide", "34", ""},
		{"https://a.example/posts/123", "A post", "en", "posts/123", "a post", "", ""},
		{"https://a.example/fr/guide", "Mode d'emploi", "fr", "guide", "mode d'emploi", "", "fr"},
		{"https://a.example/it/guide", "Guide", "en", "it/guide", "guide", "", ""},
		{"https://a.example/pt-br/guide", "Guia", "pt-br", "guide", "guia", "", "pt-br"},
		{"https://a.example/el-GR/guide", "Guide", "en", "guide", "guide", "", "el-gr"},
		{"https://a.example/browse/zh_CN/guide", "Guide", "en", "browse/guide", "guide", "", "zh_cn"},
		{"https://a.example/EL-gr/guide", "Guide", "en", "EL-gr/guide", "guide", "", ""},
		{"https://a.example/el-GRE/guide", "Guide", "en", "el-GRE/guide", "guide", "", ""},
		{"https://a.example/guide.html.de", "Handbuch", "de", "guide.html", "handbuch", "", "de"},
		{"https://a.example/guide.de.html", "Handbuch", "de", "guide.html", "handbuch", "", "de"},
		{"https://a.example/guide_de.html", "Handbuch", "de", "guide.html", "handbuch", "", "de"},
		{"https://a.example/guide?hl=de&x=1", "Handbuch", "de", "guide?x=1", "handbuch", "", "de"},
		{"https://a.example/release.1.26.0.html", "Tool 1.26.0 release notes", "en", "release.html", "tool release notes", "1.26.0", ""},
		{"https://a.example/tool.release-1.2/", "Tool", "en", "tool.release/", "tool", "1.2", ""},
		{"https://a.example/sect.2.html", "Section 2", "en", "sect.2.html", "section 2", "", ""},
		{"https://a.example/re.sub.html", "re.sub", "en", "re.sub.html", "re.sub", "", ""},
		{"https://a.example/part-2.html", "Part 2", "en", "part-2.html", "part 2", "", ""},
		{"https://a.example", "", "", "", "", "", ""},
		{"no URL", "", "", "", "", "", ""},
	} {
		k := makePageKey(page.URL(c.url), c.title, c.lang)
		if k.path != c.path || k.title != c.bare || k.version.text != c.version || k.language != c.language {
			t.Errorf("%s %q: path %q, title %q, version %q, language %q", c.url, c.title, k.path, k.title, k.version.text, k.language)
		}
	}
}

// TestVersionOrder: from the one to show to the last one.
func TestVersionOrder(t *testing.T) {
	order := strings.Fields("- latest 10.0 2.10 2.9.1 2.9 v1 0110.0 0.9 3.0-rc1 3.0-beta.1 master")
	var versions []pageVersion
	for _, s := range order {
		v, ok := parseVersion(s)
		if !ok && s != "-" {
			t.Fatalf("%s is no version", s)
		}
		versions = append(versions, v)
	}
	for i := range versions {
		for j := range versions {
			got := versions[i].newer(&versions[j])
			if unstable := i >= 9 && j >= 9; (got < 0) != (i < j) && !unstable || i == j && got != 0 {
				t.Errorf("%s and %s: %d", order[i], order[j], got)
			}
		}
	}
	for _, s := range []string{"", "7", "guide", "1.2.guide", "utf-8", "v", "a.b", "1..2", strings.Repeat("1.", 20)} {
		if v, ok := parseVersion(s); ok {
			t.Errorf("%q is version %+v", s, v)
		}
	}
}

func TestAskedVersions(t *testing.T) {
	for _, c := range []struct {
		query, version string
		want           int
	}{
		{"tool 1.26 guide", "1.26", 2}, {"tool 1.26 guide", "1.26.3", 1}, {"tool 1.26 guide", "1.2", 0}, {"tool 1.26 guide", "126", 2},
		{"tool 0.9", "090", 2}, {"tool 1.26", "34", 0}, {"tool 1.26", "", 0}, {"tool v2", "2.1", 1}, {"tool inurl:1.25", "1.25", 2},
		{"tool latest", "latest", 2}, {"tool master", "latest", 0}, {"tool 26", "26", 0},
	} {
		v := pageVersion{text: c.version, numbers: strings.FieldsFunc(c.version, func(r rune) bool { return r < '0' || r > '9' })}
		got := 0
		for _, a := range askedVersions(c.query) {
			got = max(got, v.answers(&a))
		}
		if got != c.want {
			t.Errorf("%q and version %q: %d, want %d", c.query, c.version, got, c.want)
		}
	}
}

// TestAlike: versions and translations of a page by their addresses, titles and languages, either way
// round. In each pair are an address, a title and a language.
func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b [3]string
		want bool
	}{
		{[3]string{"1.25/guide", "Guide", "en"}, [3]string{"1.26/guide", "Guide", "en"}, true},
		{[3]string{"1.25/guide", "Guide", "en"}, [3]string{"1.26/guide", "Notes", "en"}, false},
		{[3]string{"1.25/guide", "Guide", "en"}, [3]string{"1.26/notes", "Guide", "en"}, false},
		{[3]string{"en/guide", "Guide", "en"}, [3]string{"fr/guide", "Manuel", "fr"}, true},
		{[3]string{"guide", "Guide", "en"}, [3]string{"fr/guide", "Manuel", "fr"}, true},
		{[3]string{"guide", "Guide", "en"}, [3]string{"guide", "Manuel", "fr"}, false}, // nothing in the addresses
		{[3]string{"guide", "Guide", "en"}, [3]string{"en/guide", "Notes", "en"}, false},
		{[3]string{"en-US/guide", "Guide", "en"}, [3]string{"tr-TR/guide", "Kılavuz", "en"}, true},
		// Of another version as well, unless the number in the address may be another thing.
		{[3]string{"1.25/en/guide", "Guide", "en"}, [3]string{"1.26/fr/guide", "Manuel", "fr"}, true},
		{[3]string{"34/en/guide", "Guide", "en"}, [3]string{"34/fr/guide", "Manuel", "fr"}, true},
		{[3]string{"34/en/guide", "Guide", "en"}, [3]string{"35/fr/guide", "Manuel", "fr"}, false},
		{[3]string{"34/en/guide", "Guide", "en"}, [3]string{"1.26/fr/guide", "Manuel", "fr"}, false},
		{[3]string{"34/en/guide", "Guide", "en"}, [3]string{"fr/guide", "Manuel", "fr"}, true},
	} {
		of := func(p [3]string) *candidate {
			u := page.URL("https://a.example/" + p[0])
			return &candidate{url: u, title: p[1], language: p[2], key: makePageKey(u, p[1], p[2])}
		}
		if a, b := of(tt.a), of(tt.b); a.alike(b) != tt.want || b.alike(a) != tt.want {
			t.Errorf("%q and %q: %v and %v, want %v", tt.a, tt.b, a.alike(b), b.alike(a), tt.want)
		}
	}
}

// TestPreferred: of pages that are alike, which one a result shows. The second of each pair has the better score.
func TestPreferred(t *testing.T) {
	for _, tt := range []struct {
		query, a, b string
		first       bool // a is shown
	}{
		{"guide", "1.26", "1.25", true},
		{"guide 1.25", "1.26", "1.25", false},
		{"guide 1.25", "1.25", "1.25.4", true},
		{"guide 1.25", "1.25.10", "1.25.9", true}, // its newest release
		{"guide 1.25", "1.25.10-rc1", "1.25.9", false},
		{"guide 1.25", "1.25.3", "1.26", true},
		{"guide 1.25", "1.25.0", "125", false}, // one version
	} {
		of := func(version string, score float64) *candidate {
			u := page.URL("https://a.example/" + version + "/guide")
			return &candidate{url: u, score: score, language: "en", key: makePageKey(u, "Guide", "en")}
		}
		s := &search{language: "en", versions: askedVersions(tt.query)}
		a, b := of(tt.a, 1), of(tt.b, 2)
		if got, back := s.preferred(a, b), s.preferred(b, a); (got < 0) != tt.first || (back < 0) == tt.first {
			t.Errorf("%s: %s before %s is %d, and the other way round %d", tt.query, tt.a, tt.b, got, back)
		}
	}
}

// TestOtherVersion: pages of a host that name two versions, whatever else they are.
func TestOtherVersion(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a.example/1.25/guide", "a.example/1.26/the-guide", true},
		{"a.example/1.25/guide", "b.example/1.26/guide", false},
		{"a.example/1.25/guide", "a.example/1.25/the-guide", false},
		{"a.example/1.25/guide", "a.example/the-guide", false},
		{"a.example/guide", "a.example/the-guide", false},
	} {
		of := func(u string) *candidate { return &candidate{key: makePageKey(page.URL("https://"+u), "Guide", "en")} }
		if a, b := of(tt.a), of(tt.b); a.otherVersion(b) != tt.want || b.otherVersion(a) != tt.want {
			t.Errorf("%s and %s: %v and %v, want %v", tt.a, tt.b, a.otherVersion(b), b.otherVersion(a), tt.want)
		}
	}
}

// TestFoldRandom: whatever the candidates, each of them is a result or folded into one, what
// is folded is covered by what is shown, no result is covered by one above it, and the order
// in which candidates of equal scores are given makes no difference.
func TestFoldRandom(t *testing.T) {
	rng := testenv.Random(t)
	for range testenv.Size(200, 1000, 20000) {
		s := randomSearch(rng)
		list := randomCandidates(rng)
		nAbove := rng.IntN(min(len(list), 5) + 1)
		run := func() (above, got []candidate) {
			all := slices.Clone(list)
			rng.Shuffle(len(all[nAbove:]), func(i, j int) { all[nAbove+i], all[nAbove+j] = all[nAbove+j], all[nAbove+i] })
			for i := range all {
				all[i].folded = nil
			}
			sortCandidates(all[nAbove:])
			above = all[:nAbove:nAbove]
			return above, s.fold(above, slices.Clone(all[nAbove:]))
		}
		above, got := run()
		count := make(map[int64]int)
		for i, c := range slices.Concat(above, got) {
			count[c.id]++
			if c.folded != nil {
				for _, o := range *c.folded {
					count[o.id]++
					if !c.covers(&o) {
						t.Fatalf("%s is folded into %s", o.url, c.url)
					}
				}
			}
			for _, o := range got[max(0, i+1-len(above)):] {
				if c.covers(&o) {
					t.Fatalf("%s is covered by %s above it", o.url, c.url)
				}
			}
		}
		for _, c := range list {
			if count[c.id] != 1 {
				t.Fatalf("%s is there %d times", c.url, count[c.id])
			}
		}
		if _, again := run(); !reflect.DeepEqual(shape(got), shape(again)) {
			t.Fatalf("another order:\n%v\n%v", shape(got), shape(again))
		}
	}
}

func randomSearch(rng *rand.Rand) *search {
	s := &search{res: new(Results), language: []string{"", "en", "fr"}[rng.IntN(3)]}
	s.versions = askedVersions([]string{"", "1.2", "master"}[rng.IntN(3)])
	return s
}

func randomCandidates(rng *rand.Rand) (list []candidate) {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	seen := make(map[page.URL]bool)
	texts := make([]sketch.Sketch, 3) // the first two are similar
	for i := range texts {
		for j := range texts[i] {
			texts[i][j] = byte(j%255 + 1 + i/2)
		}
	}
	texts[1][0] = 0
	for i := range 1 + rng.IntN(20) {
		c := candidate{id: int64(i + 1), score: float64(1 + rng.IntN(4)), allWords: rng.IntN(2) == 0}
		c.language = pick("en", "fr", "")
		c.url = page.URL("https://a.example/" + pick("", "fr/", "en/") + pick("", "1.1/", "1.2/", "34/", "master/") + pick("x", "y"))
		c.title = pick("T", "U", "T 1.1")
		c.titleMatch = float64(rng.IntN(2))
		c.sketched(&Sketched{texts[rng.IntN(3)][:rng.IntN(2)*sketch.Size], int64(max(rng.IntN(8)-5, 0)), ""})
		if rng.IntN(5) == 0 {
			c.bins = telling - 1
		}
		if seen[c.url] {
			continue
		}
		seen[c.url] = true
		c.key = makePageKey(c.url, c.title, c.language)
		list = append(list, c)
	}
	return list
}

// shape returns what a person sees of results.
func shape(list []candidate) (out []string) {
	for i := range list {
		out = append(out, fmt.Sprint(list[i].url, list[i].alsoOf()))
	}
	return out
}
