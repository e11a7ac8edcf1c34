package web

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"golang.org/x/text/unicode/bidi"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web/assets"
)

// perPage is the number of results on a page.
const perPage = 10

// searchPage is the home page or a page of results.
type searchPage struct {
	assets.Frame
	searchParams
	Documents int // in the index; without a query only, and negative if a part does not answer
	Filtered  bool
	Sites     []choice
	Languages []choice
	MoreSites bool            // the index has more sites than Sites lists
	Results   *search.Results // nil without a query
	Hits      []hitView
	Facets    []facetView
	Pager     pager
	Milli     float64
	Without   string // the same search without filters
	Why       string // the same search with explanations toggled

	Suggestion, Suggested string // "did you mean": another query, and its link
	Instead               string // if the suggestion was searched for: a link to the query as typed
}

// hitView is a result as shown.
type hitView struct {
	Hit        *search.Hit
	Snippet    []piece
	Language   string
	Duplicates []page.URL
	Folded     int // duplicates beyond those listed
	SameHost   string
	Explain    bool // the explanation of the score is asked for
	Link       string
	Section    *sectionView  // that the hit leads to
	Sections   []sectionView // further ones
	Also       []alsoView
	MoreAlso   int    // versions beyond those listed
	Thumbnail  string // address of its thumbnail; "" if it has none
	Icon       string // address of its site's icon; "" if that has none
	NoIcon     bool   // the site has no icon, but that of another result has one
}

// maxDuplicates bounds the duplicates listed under a result.
const maxDuplicates = 10

func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	asked, err := readSearch(params)
	if err != nil {
		return err
	}
	number, err := integer(params, "p", 1, 1, search.MaxResults/perPage)
	if err != nil {
		return err
	}
	frame := s.frame(asked.Words)
	frame.Nav = "search"
	view := searchPage{Frame: frame, searchParams: asked, Filtered: asked.filtered() || asked.Sort != ""}
	if asked.query() == "" {
		view.Bare = true
		if view.Documents, err = s.opts.Search.Count(r.Context()); errors.Is(err, search.ErrUnavailable) {
			view.Documents = -1
		} else if err != nil {
			return err
		}
		return s.show(w, http.StatusOK, "search.html", &view)
	}
	s.filters(r.Context(), &view)
	usual := s.opts.Query
	usual.Language = cmp.Or(acceptedLanguage(r.Header.Get("Accept-Language")), usual.Language)
	usual.Facets = true
	begun := time.Now()
	view.Results, err = s.opts.Search.Search(r.Context(), asked.query(), asked.options(usual, perPage, (number-1)*perPage))
	if err != nil {
		return err
	}
	view.Milli = float64(time.Since(begun).Microseconds()) / 1000
	view.addLinks(number)
	for i := range view.Results.Hits {
		view.Hits = append(view.Hits, newHit(&view.Results.Hits[i], asked))
	}
	s.showThumbnails(r.Context(), view.Hits)
	s.showIcons(r.Context(), view.Hits)
	return s.show(w, http.StatusOK, "search.html", &view)
}

// addLinks adds links to similar searches and to other pages of the results. number is that of
// the page.
func (p *searchPage) addLinks(number int) {
	asked, res := p.searchParams, p.Results
	p.Without = searchParams{Words: asked.Words, Sort: asked.Sort, Reader: asked.Reader}.link()
	other := asked
	other.Explain = !asked.Explain
	p.Why = other.link()
	p.Pager = newPager("/", asked.values(), "p", number, perPage, min(res.Total-res.Folded, search.MaxResults))
	if res.Suggestion != "" {
		meant := asked.reworded(res.Suggestion)
		p.Suggestion, p.Suggested = clean(meant.Words, maxQuery), meant.link()
	}
	if res.ShowingFor != "" {
		typed := asked
		typed.Verbatim = true
		p.Instead = typed.link()
		asked = asked.reworded(res.ShowingFor) // the facets are those of its results
	}
	p.Facets = facetsOf(res.Facets, asked)
}

func newHit(h *search.Hit, asked searchParams) hitView {
	v := hitView{Hit: h, Snippet: pieces(h.Snippet), Duplicates: h.Duplicates, Explain: asked.Explain, Link: href(h.URL)}
	v.showSections()
	v.showAlso()
	if h.Language != "" {
		v.Language = languageName(h.Language)
	}
	if n := len(h.Duplicates); n > maxDuplicates {
		v.Duplicates, v.Folded = h.Duplicates[:maxDuplicates], n-maxDuplicates
	}
	if host := h.URL.Host(); asked.Site == "" && host != "" {
		asked.Site = host
		v.SameHost = asked.link()
	}
	return v
}

// Dir is the direction of writing of the first letter that has one. Title and snippet share
// it, so that they are aligned on the same side.
func (h hitView) Dir() string {
	for _, text := range []string{clean(h.Hit.Title, maxTitle), bounded(h.Hit.Snippet.Text, maxTitle)} {
		for _, r := range text {
			properties, _ := bidi.LookupRune(r)
			switch properties.Class() {
			case bidi.R, bidi.AL:
				return "rtl"
			case bidi.L:
				return "ltr"
			}
		}
	}
	return "ltr"
}

// Copy is the address of the page with the stored copy of a result.
func (h hitView) Copy() string { return viewLink(h.Hit.URL, 0) }
