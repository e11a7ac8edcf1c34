package index

import "context"

// A page without a text is a part of other pages, such as a header that they include, or a frame
// that a script fills. There is nothing to show of it, and its title and its address name what it
// is a part of. So it counts less. It is still first if nothing else fits half as well. If other
// pages call it what the query says, it is no mere part of them, and nothing changes.

// fragmentFactor is the factor for a page without a text. With a fifth, pages that only their
// addresses name were no longer found by these (docs/ranking.md).
const fragmentFactor = 0.5

// lowerFragments lowers the scores of pages without a text, whose sketches have nothing. Folding
// compares the same sketches.
func (s *search) lowerFragments(ctx context.Context, list []candidate) error {
	if len(list) < 2 {
		return nil
	}
	if err := s.from.sketches(ctx, list); err != nil {
		return err
	}
	lowered := false
	for i := range list {
		c := &list[i]
		if c.fragment = c.sketch != nil && c.bins == 0 && c.anchorMatch <= namesPage; c.fragment {
			c.score *= fragmentFactor
			lowered = true
		}
	}
	if lowered {
		sortCandidates(list)
	}
	return nil
}
