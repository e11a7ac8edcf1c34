package index

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// asked is a query, and the documents that it finds by the rules of the query language, applied to
// each document in turn.
type asked struct {
	text  string
	finds func(*Document) bool
}

// wordsOf returns the words of a text, in order. The texts of the test have no other diacritics.
func wordsOf(text string) []string {
	text = strings.NewReplacer("ü", "u", "é", "e").Replace(strings.ToLower(text))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// addressOf reads an address. The percent signs of the test that begin no escape are those of 100%, %zz
// and 50%.
func addressOf(d *Document) *url.URL {
	u, err := url.Parse(strings.NewReplacer("100%", "100%25", "%zz", "%25zz", "50%", "50%25").Replace(string(d.URL)))
	if err != nil {
		return new(url.URL)
	}
	return u
}

// columnsOf returns the words of the title, the text and the address of a document.
func columnsOf(d *Document) map[string][]string {
	u := addressOf(d)
	host := strings.Replace(u.Hostname(), "xn--bcher-kva", "bücher", 1)
	query, err := url.QueryUnescape(u.RawQuery)
	if err != nil {
		return nil
	}
	return map[string][]string{"title": wordsOf(d.Title), "text": wordsOf(d.Text), "url": wordsOf(host + " " + u.Path + " " + query)}
}

// has reports whether words follow each other in a column of a document, or in any.
func has(d *Document, in string, words ...string) bool {
	for name, column := range columnsOf(d) {
		for i := range column {
			if (in == "" || in == name) && len(column)-i >= len(words) && slices.Equal(column[i:i+len(words)], words) {
				return true
			}
		}
	}
	return false
}

// onSite is site:.
func onSite(d *Document, site string) bool {
	u := addressOf(d)
	return u.Host == site || u.Hostname() == site || strings.HasSuffix(u.Hostname(), "."+site)
}

var (
	modelWords = strings.Fields("rope salt tide boat mast gull")
	modelHosts = strings.Fields("www.a.example a.example sub.a.example b.example:8080 www.com shop.com xn--bcher-kva.example xn--bcher-kva.example:8080 127.0.0.1 [2001:db8::1] [2001:db8::1]:8080")
	modelPaths = strings.Fields("rope.pdf salt%20tide.TXT caf%C3%A9/boat.html.de mast/v2.4 gull.d/ tide/x.php?q=salt+rope.pdf b%FFad.md mast/100%/%zz.pdf tide?caf%C3%A9=50%&boat rope%2Fsalt.htm ?tide=mast ")
)

// randomAsked makes a query of one to four parts.
func randomAsked(rng *rand.Rand) asked {
	word := func() string { return modelWords[rng.IntN(len(modelWords))] }
	pick := func(list ...asked) asked { return list[rng.IntN(len(list))] }
	simple := func() asked {
		v, w := word(), word()
		return pick(
			asked{w, func(d *Document) bool { return has(d, "", w) }},
			asked{w, func(d *Document) bool { return has(d, "", w) }},
			asked{strings.ToUpper(w), func(d *Document) bool { return has(d, "", w) }},
			asked{`"` + v + " " + w + `"`, func(d *Document) bool { return has(d, "", v, w) }},
			asked{v + "-" + w, func(d *Document) bool { return has(d, "", v, w) || has(d, "", v+w) }},
			asked{"intitle:" + w, func(d *Document) bool { return has(d, "title", w) }},
			asked{"inurl:" + w, func(d *Document) bool { return has(d, "url", w) }},
			asked{`inurl:"` + v + " " + w + `"`, func(d *Document) bool { return has(d, "url", v, w) }},
			asked{"inurl:bücher", func(d *Document) bool { return has(d, "url", "bucher") }},
			asked{"inurl:cafe", func(d *Document) bool { return has(d, "url", "cafe") }},
			asked{"inurl:zz", func(d *Document) bool { return has(d, "url", "zz") }},
		)
	}
	filter := func() asked {
		site := pick(asked{text: "a.example"}, asked{text: "sub.a.example"}, asked{text: "b.example:8080"}, asked{text: "com"}, asked{text: "shop.com"}, asked{text: "xn--bcher-kva.example"},
			asked{text: "127.0.0.1"}, asked{text: "[2001:db8::1]:8080"}, asked{text: "xn--bcher-kva.example:8080"}, asked{text: "example"}).text
		lang := pick(asked{text: "en"}, asked{text: "pt"}, asked{text: "pt-br"}).text
		typed := strings.Replace(strings.Replace(site, "xn--bcher-kva", "Bücher", 1), "a.example", pick(asked{text: "a.example"}, asked{text: "www.a.example"}).text, 1)
		if strings.HasPrefix(typed, "sub.") {
			typed = site
		}
		return pick(
			asked{"site:" + typed, func(d *Document) bool { return onSite(d, site) }},
			asked{"site:2001:db8::1", func(d *Document) bool { return onSite(d, "2001:db8::1") }},
			asked{"lang:" + lang, func(d *Document) bool { return d.Language == lang || strings.HasPrefix(d.Language, lang+"-") }},
		)
	}
	day := func() time.Time {
		return time.Date(2020+rng.IntN(4), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 0, 0, 0, 0, time.UTC)
	}
	parts := []asked{simple()}
	for range rng.IntN(4) {
		a, b := simple(), simple()
		f, from := filter(), day()
		parts = append(parts, pick(
			a,
			f,
			asked{"-" + a.text, func(d *Document) bool { return !a.finds(d) }},
			asked{"-" + f.text, func(d *Document) bool { return !f.finds(d) }},
			asked{a.text + " OR " + b.text, func(d *Document) bool { return a.finds(d) || b.finds(d) }},
			asked{"(" + a.text + " " + f.text + ") OR " + b.text, func(d *Document) bool { return a.finds(d) && f.finds(d) || b.finds(d) }},
			asked{"(" + a.text + " -" + b.text + ")", func(d *Document) bool { return a.finds(d) && !b.finds(d) }},
			asked{"-(" + a.text + " " + b.text + ")", func(d *Document) bool { return !a.finds(d) || !b.finds(d) }},
			asked{"after:" + from.Format(time.DateOnly), func(d *Document) bool { return !d.FetchedAt.IsZero() && !d.FetchedAt.Before(from) }},
			asked{"before:" + from.Format("2006-01"), func(d *Document) bool {
				return !d.FetchedAt.IsZero() && d.FetchedAt.Before(from.AddDate(0, 0, 1-from.Day()))
			}},
		))
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.text)
	}
	sites := map[string]bool{} // several of a kind are alternatives, which the model does not know
	for _, kind := range []string{"site:", "lang:"} {
		for _, p := range parts {
			if strings.HasPrefix(p.text, kind) {
				if sites[kind] {
					return randomAsked(rng)
				}
				sites[kind] = true
			}
		}
	}
	return asked{strings.Join(texts, " "), func(d *Document) bool {
		return !slices.ContainsFunc(parts, func(p asked) bool { return !p.finds(d) })
	}}
}

// TestQueryModel: searches find the documents that have what the query asks for, and each facet counts
// those that its filter leaves.
func TestQueryModel(t *testing.T) {
	rng := testenv.Random(t)
	var docs []*Document
	var changes []Change
	some := func(n int) string {
		var list []string
		for range 1 + rng.IntN(n) {
			list = append(list, modelWords[rng.IntN(len(modelWords))])
		}
		return strings.Join(list, " ")
	}
	for i := range testenv.Size(100, 200, 2000) {
		u, err := page.ParseURL(fmt.Sprintf("http://%s/%d/%s", modelHosts[rng.IntN(len(modelHosts))], i, modelPaths[rng.IntN(len(modelPaths))]))
		if err != nil {
			t.Fatal(err)
		}
		d := &Document{Cluster: key(string(u)), Seq: 1, URL: u, Title: some(3), Text: some(5), Language: []string{"", "en", "pt", "pt-br", "ja"}[rng.IntN(5)]}
		if rng.IntN(5) > 0 {
			d.FetchedAt = time.Date(2020+rng.IntN(4), 1, 1, 0, 0, rng.IntN(365*86400), 0, time.UTC)
		}
		docs, changes = append(docs, d), append(changes, Upsert(d))
	}
	w := openTestWriter(t, t.TempDir())
	apply(t, w, changes...)
	r := openTestReader(t, w.dir)
	o := search.Options{Limit: search.MaxResults, Unfold: true, Verbatim: true, NoSuggestion: true, Facets: true}
	for range testenv.Size(50, 150, 5000) {
		q := randomAsked(rng)
		var want []string
		for _, d := range docs {
			if q.finds(d) {
				want = append(want, string(d.URL))
			}
		}
		res, err := r.Search(t.Context(), q.text, o)
		if err != nil {
			t.Fatalf("%s: %v", q.text, err)
		}
		var got []string
		for _, h := range res.Hits[:min(res.AllWords, len(res.Hits))] {
			got = append(got, string(h.URL))
		}
		slices.Sort(got)
		slices.Sort(want)
		if res.AllWords != len(want) || len(want) < search.MaxResults && !slices.Equal(got, want) {
			t.Fatalf("%s finds %d documents, want %d\n got %q\nwant %q", q.text, res.AllWords, len(want), got, want)
		}
		if res.Total != res.AllWords {
			continue
		}
		for _, list := range [][]search.Facet{res.Facets.Sites, res.Facets.Languages, res.Facets.Years, res.Facets.Types} {
			for _, f := range list {
				left, err := r.Search(t.Context(), q.text+" "+f.Filter, search.Options{Verbatim: true})
				if err != nil || left.AllWords != f.Documents {
					t.Fatalf("%s: facet %+v, and its filter leaves %+v, %v", q.text, f, left, err)
				}
			}
		}
	}
}
