package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// candidate is a document that matches, before it becomes a hit.
type candidate struct {
	id              int64
	score, rank     float64
	url             page.URL
	language, title string
	allWords        bool
	partial         bool // it is in the first tier, without all the words
	front           bool // the front page of a site that the query names (frontpage.go)
	moreFromHost    int

	key           *pageKey
	sketch        *sketch.Sketch // of the main content, nil if it is unknown
	bins          int            // of the sketch
	translations  int64          // see [Sketched]
	sample        string         // see [Sketched]
	repeats       page.URL       // the hit above that says most of what this one says (littlenew.go)
	folded        *[]candidate   // into this one
	placeOf       *candidate     // the folded one whose place this one has
	otherLanguage bool           // counts less, for its language
	versionFactor float64        // below 1 if another version was asked for (askedversion.go); 0 if none was
	contentFactor float64        // below 1 if there is little to read (content.go); 0 if it was not weighed

	text                    float64 // the BM25 score alone
	titleMatch, anchorMatch float64 // 0 to 1

	typed       Typed   // if it was asked for (typed.go)
	typedFactor float64 // 0 if there is none

	siteFactor    float64 // below 1 if another site was asked for (namedsite.go); 0 if none was
	sectionFactor float64 // above 1 for the page of a section; 0 if there is none (sectionpage.go)
	passages      float64 // with the words of the query, as PassagesQuestion.Count counts them
	passageFactor float64 // 0 if it was not asked for
}

// rerank sorts the best rerankTop documents by BM25, and the ones that addNamed added, by
//
//	bm25 · (1 + T·title²) · (1 + A·anchor) · (1 + R·ln(1+rank))
//
// with the weights T, A and R. The three factors can only raise a score: BM25 sees neither
// how much of a title or an anchor the query is, nor how a page is linked to. The square
// separates the page whose title is the query from pages whose titles have a few words
// more.
//
//	title   how much query and title agree, from 0 to 1 (overlap.go); half of that for a
//	        document of the first tier without all the words, if a title names what is asked for
//	anchor  the greatest such agreement with an anchor, times v/(1+v), where v is the number
//	        of links with that anchor, and a link from another site counts otherSite times
//	        (index/anchors.go); or the square of such an agreement with a heading (index/headings.go)
//
// The front page of a site that the query names agrees with it completely, both as a title and as an
// anchor (frontpage.go).
//
// Only the anchors and headings of the best anchorTop are read. Documents after rerankTop keep their
// plain score, which is not above any before it.
func (s *search) rerank(ctx context.Context, top []candidate) error {
	w := &s.opts.Weights
	titles := make(map[hostTitle]int)
	for i := range top {
		c := &top[i]
		if c.key == nil {
			c.key = s.names.key(c.url, c.title, c.language)
		}
		titles[hostTitle{c.key.host, c.key.title}]++
	}
	s.findNamed(top)
	for i := range top {
		c := &top[i]
		if err := s.matchTitle(c, titles[hostTitle{c.key.host, c.key.title}] >= sharedTitle); err != nil {
			return err
		}
	}
	lowerPartial(top)
	sortByTitle(top, w)
	s.preferNamed(top)
	s.preferSectionPages(top)
	s.preferLanguage(top)
	s.preferVersion(top)
	if w.AnchorMatch > 0 {
		if err := s.from.matchAnchors(ctx, top[:min(len(top), anchorTop)], s.c.Words); err != nil {
			return err
		}
		for i := range top {
			if top[i].front {
				top[i].anchorMatch = 1
			}
		}
		sortByAnchor(top, w)
	}
	return s.weighContents(ctx, top)
}

// hostTitle is a title of a host, without versions.
type hostTitle struct{ host, title string }

// A title that at least sharedTitle candidates of a host have says nothing about the pages.
const sharedTitle = 3

// matchTitle compares the query with the title of a candidate. The name in the address counts
// as the title of a page that has none, or whose title it shares with others (pagename.go). A
// version says nothing to a query that names none. If the page is of the version that the
// query names, the version is a part of its name, even if only the address has it.
func (s *search) matchTitle(c *candidate, shared bool) error {
	title := c.title
	if len(s.versions) == 0 {
		title = c.key.unversioned
	}
	names := [...]string{title, c.key.name}
	if title != "" && !shared {
		names[1] = ""
	}
	answers, asked := s.askedFor(c)
	c.titleMatch = 0
	for _, text := range names {
		if text == "" {
			continue
		}
		n, err := s.names.titles.Get(text, c.language, func(text, language string) (Name, error) {
			return MakeName(text, language), nil
		})
		if err != nil {
			return err
		}
		if answers == 2 {
			n = n.with(nameWords(asked.text, ""))
		}
		n = n.with(s.named[HostOf(c.url)])
		c.titleMatch = max(c.titleMatch, n.Overlap(s.c.Words))
	}
	if c.front {
		c.titleMatch = 1
	}
	return nil
}

// lowerPartial lowers the titles of documents without all the words, if the title of a document that
// has them agrees well with the query. A user who types a title wants that page, and
// not one whose title is most of it. If no title does, the query describes a page, and a missing word says
// little.
func lowerPartial(top []candidate) {
	named := slices.ContainsFunc(top, func(c candidate) bool { return !c.partial && c.titleMatch >= titleNames })
	for i := range top {
		if c := &top[i]; named && c.partial && !c.front {
			c.titleMatch *= partialTitle
		}
	}
}

// maxRankedTitle bounds the title that is compared with queries, in bytes.
const maxRankedTitle = 4 << 10

// rankedTitle returns the part of a title that is compared with queries. A title may have
// megabytes.
func rankedTitle(title string) string {
	if len(title) <= maxRankedTitle {
		return title
	}
	return strings.Clone(analysis.Truncate(title, maxRankedTitle))
}

// host returns the host by which results are counted.
func (c *candidate) host() string {
	if c.key == nil {
		return HostOf(c.url)
	}
	return c.key.host
}

// sortByTitle is the first sort, by titles.
func sortByTitle(top []candidate, w *Weights) {
	for i := range top {
		c := &top[i]
		c.score = c.text * w.titleFactor(c.titleMatch) * w.rankFactor(c.rank)
	}
	sortCandidates(top)
}

// sortByAnchor is the second sort, by the anchors of the best anchorTop.
func sortByAnchor(top []candidate, w *Weights) {
	for i := range top[:min(len(top), anchorTop)] {
		top[i].score *= w.anchorFactor(top[i].anchorMatch)
	}
	sortCandidates(top)
}

const (
	// partialTitle keeps a page whose title has most of the query below the page whose title has
	// all of it, whatever their texts say. Without it, title success@1 was .926 instead of .980.
	partialTitle = 0.5
	// titleNames is how much a title must agree with the query to name the page that the user
	// wants.
	titleNames = 0.6
	// anchorTop is the number of documents whose anchors are read.
	anchorTop = 30
)

// placed returns the score by which a candidate has its place.
func (c *candidate) placed() float64 {
	if c.placeOf != nil {
		return c.placeOf.score
	}
	return c.score
}

func sortCandidates(list []candidate) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.rank, a.rank), cmp.Compare(a.url, b.url))
	})
}
