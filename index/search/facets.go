package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// Facets say how the documents of a result divide by site, language, year of the last fetch
// and file type. The values are those of the best candidates, because listing those of all
// matches would read all of them. Their documents are counted among all
// matches, or among the candidates if there are too many matches. Documents without all the
// words that compete with those that have them (addPartial, addOtherwise) count for all properties
// but the year. A property by which the query is already narrowed has no values ([query.NarrowedBy]).
type Facets struct {
	Sites     []Facet `json:"sites"`
	Languages []Facet `json:"languages"`
	Years     []Facet `json:"years"`
	Types     []Facet `json:"types"`
	// AtLeast says that only the candidates were counted, so there may be more documents.
	// Then there are no years.
	AtLeast bool `json:"at_least"`
}

// Facet is a value, and the operators that narrow the query to its documents.
type Facet struct {
	Value     string `json:"value"`
	Filter    string `json:"filter"` // to add to the query, or to [Results].ShowingFor, such as site:example.org
	Documents int    `json:"documents"`
}

// Bounds of facets.
const (
	maxFacets     = 8      // values of a kind
	maxFacetYears = 6      // beginning with the newest
	maxFaceted    = 20_000 // matches that are counted by value
)

// facets counts the documents of the result by their properties. found has the candidates. A later
// page has more of them, but the best of them are the same for all pages.
func (s *search) facets(ctx context.Context, found []candidate) (*Facets, error) {
	best := bestDocuments(found, rerankTop)
	tally := tallyOf(best)
	f := &Facets{AtLeast: s.res.Total > maxFaceted, Years: []Facet{}}
	has := query.NarrowedBy(s.c.Text)
	f.Sites = topFacets(has.Site, "site:", tally.sites)
	f.Languages = topFacets(has.Lang, "lang:", tally.languages)
	f.Types = topFacets(has.FileType, "filetype:", tally.types)
	b := query.AllWords
	if s.res.AllWords < FillBelow && s.res.Total > s.res.AllWords {
		b = s.fill
	}
	if err := s.dropUnfound(ctx, b, best, f); err != nil || f.AtLeast || s.res.Total == 0 {
		return f, err
	}
	others := slices.DeleteFunc(bestDocuments(found, math.MaxInt), func(c candidate) bool { // those that do not match
		if b == query.AllWords {
			return !c.partial
		}
		return !slices.Contains(s.unmatched, string(c.url))
	})
	if err := s.countFacets(ctx, b, others, f); err != nil {
		return nil, err
	}
	var err error
	f.Years, err = s.facetYears(ctx, s.matching(s.c.Expr(b)))
	return f, err
}

// facetKind is one of the properties with a tag.
type facetKind struct {
	tag  rune
	list *[]Facet
	has  func(c *candidate, value string) bool // reports whether a filter finds a candidate
}

func (f *Facets) kinds() []facetKind {
	return []facetKind{
		{analysis.TagSite, &f.Sites, func(c *candidate, site string) bool { return strings.HasSuffix("."+siteOf(c), "."+site) }},
		{analysis.TagLang, &f.Languages, func(c *candidate, tag string) bool { return sameLanguage(c.language, tag) }},
		{analysis.TagFileType, &f.Types, func(c *candidate, t string) bool { return analysis.FileTypeOf(c.url) == t }},
	}
}

// countFacets replaces the counts of candidates with those of all matches of a breadth and of other
// documents.
func (s *search) countFacets(ctx context.Context, b query.Breadth, others []candidate, f *Facets) error {
	var sets []Matching
	var withOthers []bool
	for _, k := range f.kinds() {
		for i := range *k.list {
			m, wide := s.filtered(b, k.tag, &(*k.list)[i])
			sets, withOthers = append(sets, m), append(withOthers, wide)
		}
	}
	counts, err := s.from.counts(ctx, sets...)
	if err != nil {
		return err
	}
	for _, k := range f.kinds() {
		list := *k.list
		for i := range list {
			v, wide := &list[i], withOthers[0]
			v.Documents, counts, withOthers = counts[0], counts[1:], withOthers[1:]
			for j := range others {
				if wide && k.has(&others[j], v.Value) {
					v.Documents++
				}
			}
		}
		slices.SortStableFunc(list, func(a, b Facet) int { return cmp.Compare(b.Documents, a.Documents) })
	}
	f.dropEmpty()
	return nil
}

// filtered returns the documents that have a value and match the query in a breadth. A query with lang:
// looks for other forms of its words. If it has other stop words, it is another query, of which only the
// documents with all the words are certain: then filtered returns those, and false.
func (s *search) filtered(b query.Breadth, tag rune, v *Facet) (m Matching, wide bool) {
	c := s.c
	if tag == analysis.TagLang {
		c = s.narrowed(v.Filter)
	}
	for i, t := range s.c.Terms {
		if c.Terms[i].Stop != t.Stop {
			return s.matching(query.Tagged(c.Expr(query.AllWords), tag, v.Value)), false
		}
	}
	return s.matching(query.Tagged(c.Expr(b), tag, v.Value)), true
}

// narrowed returns the query with a filter.
func (s *search) narrowed(filter string) *query.Query {
	c, err := query.Compile(query.Narrow(s.c.Text, filter), stemmersOf(s.from.stemmers), s.c.Verbatim)
	if err != nil || len(c.Terms) != len(s.c.Terms) { // the query is as long as may be
		return s.c
	}
	for i, t := range s.c.Terms {
		c.Terms[i].Common = t.Common
	}
	return c
}

// facetYears counts the matches by year, beginning with the year of the latest fetch.
func (s *search) facetYears(ctx context.Context, m Matching) ([]Facet, error) {
	list := []Facet{}
	latest, err := s.from.latestFetch(ctx, m)
	if err != nil || latest == 0 {
		return list, err
	}
	newest := time.Unix(0, latest).UTC().Year()
	var sets []Matching
	for year := newest; year > newest-maxFacetYears; year-- {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		p := query.Period{From: max(m.Fetched.From, from.UnixNano()), Until: from.AddDate(1, 0, 0).UnixNano()}
		if m.Fetched.Until != 0 {
			p.Until = min(p.Until, m.Fetched.Until)
		}
		sets = append(sets, Matching{m.Expr, p})
	}
	counts, err := s.from.counts(ctx, sets...)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		if year := newest - i; n > 0 {
			list = append(list, Facet{strconv.Itoa(year), "after:" + strconv.Itoa(year) + " before:" + strconv.Itoa(year+1), n})
		}
	}
	return list, nil
}

// bestDocuments returns the first n documents of a list of candidates, with the documents
// folded into them.
func bestDocuments(list []candidate, n int) (out []candidate) {
	for i := range list {
		if len(out) >= n {
			break
		}
		out = append(append(out, list[i]), list[i].hidden()...)
	}
	return out
}

// facetTally counts documents by their properties.
type facetTally struct{ sites, languages, types map[string]int }

func tallyOf(list []candidate) facetTally {
	t := facetTally{make(map[string]int), make(map[string]int), make(map[string]int)}
	for i := range list {
		c := &list[i]
		t.sites[siteOf(c)]++
		t.languages[analysis.PrimaryLanguage(c.language)]++
		t.types[analysis.FileTypeOf(c.url)]++
	}
	return t
}

// siteOf returns the host of a candidate as site: has it, an IPv6 address without brackets. The
// www. of www.com is not a prefix: site:com finds all hosts of .com.
func siteOf(c *candidate) string {
	host := c.url.Host()
	if bare := HostOf(c.url); strings.Contains(bare, ".") {
		host = bare
	}
	return strings.Trim(host, "[]")
}

// topFacets returns the most frequent values, the most frequent first. It returns none if
// the operator already narrows the query.
func topFacets(narrowed bool, operator string, counts map[string]int) []Facet {
	list := []Facet{}
	if narrowed {
		return list
	}
	delete(counts, "")
	for _, f := range mostFirst(counts) {
		list = append(list, Facet{f.Value, operator + f.Value, f.Documents})
	}
	return list[:min(len(list), maxFacets)]
}
