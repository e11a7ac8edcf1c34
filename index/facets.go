package index

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// Facets say how the documents of a result divide by site, language, year of the last fetch
// and file type. The values are those of the best candidates, because listing those of all
// matches would read all of them. Their documents are counted among all
// matches, or among the candidates if the matches are too many. A property by which the query
// is narrowed already has no values ([query.NarrowedBy]).
type Facets struct {
	Sites     []Facet `json:"sites"`
	Languages []Facet `json:"languages"`
	Years     []Facet `json:"years"`
	Types     []Facet `json:"types"`
	// AtLeast says that documents were counted among the candidates only, so that there may
	// be more. There are no years then.
	AtLeast bool `json:"at_least"`
}

// Facet is a value, and the operators that leave its documents.
type Facet struct {
	Value     string `json:"value"`
	Filter    string `json:"filter"` // to add to the query, such as site:example.org
	Documents int    `json:"documents"`
}

// Bounds of facets.
const (
	maxFacets     = 8      // values of a kind
	maxFacetYears = 6      // from the newest one on
	maxFaceted    = 20_000 // matches that are counted by value
)

// facets counts the documents of the result by their properties. found is the candidates.
func (s *search) facets(ctx context.Context, found []candidate) (*Facets, error) {
	var tally facetTally
	tally.addAll(found)
	f := &Facets{AtLeast: s.res.Total > maxFaceted, Years: []Facet{}}
	has := query.NarrowedBy(s.c.Text)
	f.Sites = topFacets(has.Site, "site:", tally.sites)
	f.Languages = topFacets(has.Lang, "lang:", tally.languages)
	f.Types = topFacets(has.FileType, "filetype:", tally.types)
	if f.AtLeast || s.res.Total == 0 {
		return f, nil
	}
	b := query.AllWords
	if s.res.AllWords < FillBelow && s.res.Total > s.res.AllWords {
		b = s.fill
	}
	matching := s.matching(s.c.Expr(b))
	if err := s.countFacets(ctx, matching, f); err != nil {
		return nil, err
	}
	var err error
	f.Years, err = s.facetYears(ctx, matching)
	return f, err
}

// countFacets replaces the counts of candidates by those of all matches.
func (s *search) countFacets(ctx context.Context, m Matching, f *Facets) error {
	var sets []Matching
	var into []*Facet
	for kind, list := range map[rune][]Facet{analysis.TagSite: f.Sites, analysis.TagLang: f.Languages, analysis.TagFileType: f.Types} {
		for i := range list {
			sets = append(sets, Matching{query.Tagged(m.Expr, kind, list[i].Value), m.Fetched})
			into = append(into, &list[i])
		}
	}
	counts, err := s.from.counts(ctx, sets...)
	if err != nil {
		return err
	}
	for i, n := range counts {
		into[i].Documents = n
	}
	for _, list := range [][]Facet{f.Sites, f.Languages, f.Types} {
		slices.SortStableFunc(list, func(a, b Facet) int { return cmp.Compare(b.Documents, a.Documents) })
	}
	return nil
}

// facetYears counts the matches by year, from that of the latest fetch on.
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

// facetTally counts candidates by their properties.
type facetTally struct{ sites, languages, types map[string]int }

func (t *facetTally) addAll(list []candidate) {
	if t.sites == nil {
		*t = facetTally{make(map[string]int), make(map[string]int), make(map[string]int)}
	}
	for i := range list {
		c := &list[i]
		t.sites[hostOf(c.url)]++
		t.languages[analysis.PrimaryLanguage(c.language)]++
		t.types[analysis.FileTypeOf(c.url)]++
		if c.folded != nil {
			t.addAll(*c.folded)
		}
	}
}

// topFacets is the most frequent values, most first. There are none if the query is narrowed
// by the operator already.
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
