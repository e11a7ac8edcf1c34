package search

import "context"

// How much there is to read on a page decides between pages that fit a query equally well.
//
// A page without a text is a part of other pages, such as a header that they include, or a frame
// that a script fills. It has nothing to show, and its title and its address name what it is a
// part of.
//
// A page whose text has no recognisable language has no sentences: it is the index of a manual, a
// listing of source code, a table. It has the words of many queries, and answers few.
//
// Both kinds of pages count less. They are still first if nothing else fits half as well.
// Nothing changes for a page that other pages call what the query says.
//
// Listings of source code, indexes of words and the like, which documentation programs make, count
// still less (generated.go).

const (
	// textlessFactor is the factor for a page without a text. With a fifth, queries no longer
	// found pages that only their addresses name (docs/ranking-experiments.md).
	textlessFactor = 0.5
	// proselessFactor is the factor for a page without sentences, if the language of the query
	// is known.
	proselessFactor = 0.6
	// generatedFactor is the factor for a page that a program has made of others (generated.go).
	generatedFactor = 0.3
	// namesGenerated is how much the title of a generated page must agree with the query for the
	// page to be what the user wants.
	namesGenerated = 0.75
)

// weighContents lowers the scores of pages without a text, whose sketches are empty, and of
// pages without sentences. Folding compares the same sketches.
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
