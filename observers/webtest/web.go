package webtest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// Web says what random webs are like. URLs, Fetches, Contents, Seconds and Links are
// numbers; the other fields are percentages.
type Web struct {
	URLs     int // that are fetched; links also point to a few others
	Fetches  int
	Contents int // different texts; a small number makes many duplicates
	Seconds  int // the fetch times are spread over these; a small number makes many equal times

	Redirects, Gone, Failed, Other, Revisits int // the rest are pages
	Canonicals, NoIndex, Shells              int // of pages
	Chained                                  int // of targets, how many lead to the next URL
	Links                                    int // on a page, at most
	// Weak is how many of 100 pages have some forty more links, to URLs that are not
	// fetched: these pass on so little that a coarse tolerance ignores it.
	Weak int
	// Late fetches come at a random place, and the others in the order of time, so that
	// pages really change while the observers work.
	Late int
}

// RandomWeb draws the properties of a web with up to the given number of URLs.
func RandomWeb(random *rand.Rand, urls int) Web {
	n := 2 + random.IntN(urls)
	return Web{
		URLs: n, Fetches: n + random.IntN(n*(1+random.IntN(8))), Contents: 1 + random.IntN(1+n/2), Seconds: 1 + random.IntN(4*n),
		Redirects: random.IntN(40), Gone: random.IntN(12), Failed: random.IntN(12), Other: random.IntN(6), Revisits: random.IntN(12),
		Canonicals: random.IntN(70), NoIndex: random.IntN(20), Shells: random.IntN(15),
		Chained: random.IntN(100), Links: random.IntN(5), Late: []int{0, 10, 100}[random.IntN(3)],
	}
}

// epoch is the time before the first fetch.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// URL returns the i-th URL of a web. Hosts, schemes and lengths vary, because they decide
// which URL is canonical.
func URL(i int) page.URL {
	scheme := [...]string{"https", "http"}[i/2%2]
	host := [...]string{"a.example", "www.a.example", "b.example"}[i%3]
	return page.MustParseURL(fmt.Sprintf("%s://%s/%s%d", scheme, host, strings.Repeat("p", i%5), i))
}

// Make draws the fetches of a web, in loading order.
func (w Web) Make(random *rand.Rand) []*page.Fetch {
	g := generator{Web: w, random: random, taken: make(map[tie]bool)}
	fetches := make([]*page.Fetch, w.Fetches)
	for i := range fetches {
		fetches[i] = g.fetch()
	}
	slices.SortStableFunc(fetches, func(a, b *page.Fetch) int { return a.Time.Compare(b.Time) })
	for i := range fetches {
		if g.in100(w.Late) {
			j := random.IntN(len(fetches))
			fetches[i], fetches[j] = fetches[j], fetches[i]
		}
	}
	return fetches
}

type generator struct {
	Web
	random *rand.Rand
	taken  map[tie]bool
}

// tie orders fetches as semantics.md section 2 does, and then by outcome and target.
type tie struct {
	url     page.URL
	time    int64
	sum     [32]byte
	outcome page.Outcome
	target  page.URL
}

func (g *generator) in100(n int) bool { return g.random.IntN(100) < n }

func (g *generator) fetch() *page.Fetch {
	i := g.random.IntN(g.URLs)
	f := &page.Fetch{URL: URL(i), Status: http.StatusOK, Header: make(http.Header)}
	f.Time = epoch.Add(time.Duration(g.random.IntN(g.Seconds)) * time.Second)
	k := g.random.IntN(100)
	for _, o := range []struct {
		part int
		fill func(*page.Fetch, int)
	}{
		{g.Redirects, g.redirect}, {g.Gone, g.gone}, {g.Failed, g.failed}, {g.Other, g.other}, {g.Revisits, g.revisit}, {100, g.page},
	} {
		if k < o.part {
			o.fill(f, i)
			break
		}
		k -= o.part
	}
	g.untie(f)
	return f
}

// untie moves a fetch that nothing distinguishes from another one by a nanosecond.
func (g *generator) untie(f *page.Fetch) {
	if f.IsRevisit() || f.HasFailed() {
		return
	}
	doc := page.Interpret(f)
	for {
		t := tie{f.URL, f.Time.UnixNano(), sha256.Sum256(f.Body), doc.Outcome, doc.Target}
		if !g.taken[t] {
			g.taken[t] = true
			return
		}
		f.Time = f.Time.Add(1)
	}
}

// target returns where URL i leads. A few targets are never fetched.
func (g *generator) target(i int) page.URL {
	if g.in100(g.Chained) {
		return URL(i + 1)
	}
	return URL(g.random.IntN(g.URLs + 1 + g.URLs/20))
}

func (g *generator) redirect(f *page.Fetch, i int) {
	target := string(g.target(i))
	switch g.random.IntN(16) {
	case 0:
		target = "mailto:nobody@a.example"
	case 1:
		target = string(f.URL)
	}
	if g.random.IntN(4) == 0 {
		f.Header.Set("Content-Type", "text/html")
		f.Body = fmt.Appendf(nil, "<meta http-equiv=refresh content='0; url=%s'>", target)
		return
	}
	f.Status = []int{301, 302, 303, 307, 308}[g.random.IntN(5)]
	f.Header.Set("Location", target)
	if g.in100(g.NoIndex) {
		f.Header.Set("X-Robots-Tag", "noindex")
	}
	f.Body = fmt.Appendf(nil, "moved %d", g.random.IntN(2))
}

func (g *generator) gone(f *page.Fetch, _ int) {
	f.Status = []int{http.StatusNotFound, http.StatusGone}[g.random.IntN(2)]
	f.Body = []byte("<p>not here")
}

func (g *generator) failed(f *page.Fetch, _ int) {
	if f.Status = http.StatusServiceUnavailable; g.random.IntN(2) == 0 {
		f.Status, f.Err = 0, "connection reset"
	}
}

func (g *generator) other(f *page.Fetch, _ int) {
	f.Header.Set("Content-Type", "image/png")
	f.Body = fmt.Appendf(nil, "\x89PNG %d", g.random.IntN(2))
}

func (g *generator) revisit(f *page.Fetch, _ int) {
	if f.Revisit = g.random.IntN(2) == 0; !f.Revisit {
		f.Status = http.StatusNotModified
	}
}

// page varies everything that pages can differ in, and sometimes only one of these: text, title,
// language, template text, directives, canonical link, links, and bytes that mean nothing.
func (g *generator) page(f *page.Fetch, i int) {
	content := g.random.IntN(g.Contents)
	if g.random.IntN(30) == 0 {
		f.Header.Set("Content-Type", "text/plain")
		f.Body = []byte(strings.Repeat(fmt.Sprintf("plain %d ", content), 12))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<html lang=%s><title>Page %d</title>", []string{"en", "en", "de"}[g.random.IntN(3)], content)
	if g.in100(g.NoIndex) {
		b.WriteString("<meta name=robots content=noindex>")
	}
	if g.random.IntN(12) == 0 {
		f.Header.Set("X-Robots-Tag", "nofollow")
	}
	if g.in100(g.Canonicals) {
		if target := g.target(i); g.random.IntN(3) == 0 {
			f.Header.Set("Link", fmt.Sprintf("<%s>; rel=canonical", target))
		} else {
			fmt.Fprintf(&b, "<link rel=canonical href='%s'>", target)
		}
	}
	if g.random.IntN(10) == 0 {
		fmt.Fprintf(&b, "<template>variant %d</template>", g.random.IntN(2))
	}
	if g.in100(g.Shells) {
		fmt.Fprintf(&b, "<p>shell %d", content)
	} else {
		fmt.Fprintf(&b, "<p>%s", strings.Repeat(fmt.Sprintf("text %d ", content), 12))
	}
	g.links(&b)
	fmt.Fprintf(&b, "<!-- %d -->", g.random.IntN(3))
	f.Body = []byte(b.String())
	if g.random.IntN(8) > 0 {
		f.Header.Set("Content-Type", "text/html; charset=utf-8")
	}
}

// links writes links whose anchors are not part of the text, so that pages with
// different links can have one content.
func (g *generator) links(b *strings.Builder) {
	for range g.random.IntN(g.Links + 1) {
		target := g.random.IntN(g.URLs + 1 + g.URLs/20)
		fmt.Fprintf(b, "<area href='%s' alt='%s'>", URL(target), []string{"", "one", "two words"}[g.random.IntN(3)])
	}
	if g.random.IntN(4) == 0 {
		fmt.Fprintf(b, "<iframe src='%s'></iframe>", URL(g.random.IntN(g.URLs)))
	}
	if g.Weak > 0 && g.in100(g.Weak) {
		for i := range 20 + g.random.IntN(40) {
			fmt.Fprintf(b, "<area href='https://filler.example/%d'>", i)
		}
	}
}
