package search

import "context"

// What a page has to read decides between pages that fit a query equally well.
//
// A page without a text is a part of other pages, such as a header that they include, or a frame
// that a script fills. There is nothing to show of it, and its title and its address name what it
// is a part of.
//
// A page with a text of which nobody can tell the language has no sentences: it is the index of a
// manual, a listing of source code, a table. It has the words of many queries, and answers few.
//
// Both count less. They are still first if nothing else fits half as well. If other pages call
// them what the query says, nothing changes.
//
// Listings of source code, indexes of words and the like, which documentation programs make, count
// still less (generated.go).

const (
	// textlessFactor is the factor for a page without a text. With a fifth, pages that only their
	// addresses name were no longer found by these (docs/ranking-experiments.md).
	textlessFactor = 0.5
	// proselessFactor is the factor for a page without sentences, if the language of the query
	// is known.
	proselessFactor = 0.6
	// generatedFactor is the factor for a page that a program has made of others (generated.go).
	generatedFactor = 0.3
	// namesGenerated is how much the title of such a page must agree with the query for the page to
	// be what the user wants.
	namesGenerated = 0.75
)

// weighContents lowers the scores of pages without a text, whose sketches have nothing, and of
// those without sentences. Folding compares the same sketches.
func (s *search) weighContents(ctx context.Context, list []candidate) error {
	if len(list) < 2 {
		return nil
	}
	if err := s.from.sketches(ctx, list); err != nil {
		return err
	}
	lowered := false
	for i := range list {
		c := &list[i]
		if c.contentFactor = s.contentFactor(c); c.contentFactor < 1 {
			c.score *= c.contentFactor
			lowered = true
		}
	}
	if lowered {
		sortCandidates(list)
	}
	return nil
}

func (s *search) contentFactor(c *candidate) float64 {
	switch {
	case isGenerated(c.url) && c.titleMatch < namesGenerated:
		return generatedFactor
	case c.sketch == nil || c.anchorMatch > namesPage:
		return 1
	case c.bins == 0:
		return textlessFactor
	case c.bins >= telling && c.language == "" && s.language != "":
		return proselessFactor
	}
	return 1
}
