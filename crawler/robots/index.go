package robots

import "slices"

// index finds the rule that decides on a path among many. Patterns are grouped by
// their literal prefix; a path can only match those whose prefix it begins with,
// one map look-up for each length that occurs. A file of the greatest size has
// under a thousand such lengths, ordinary ones a dozen.
//
// Patterns with a wildcard after the same prefix are tried one after the other, each
// in linear time. The worst that the limits on files and URLs permit, 20,000 such
// rules which nearly match a URL of 8 KiB everywhere, takes some 50 ms
// (BenchmarkAllowed); plain rules do not add to the time of a decision.
type index struct {
	patterns []indexed
	byPrefix map[string][]int32 // numbers of patterns, those of higher precedence first
	lengths  []int              // of the prefixes, ascending
}

type indexed struct {
	pattern
	rule int // lower is of higher precedence
}

// add notes a pattern. Rules have to be added in the order of their precedence.
func (x *index) add(p pattern, rule int) {
	if x.byPrefix == nil {
		x.byPrefix = map[string][]int32{}
	}
	if _, known := x.byPrefix[p.prefix]; !known {
		if i, ok := slices.BinarySearch(x.lengths, len(p.prefix)); !ok {
			x.lengths = slices.Insert(x.lengths, i, len(p.prefix))
		}
	}
	x.byPrefix[p.prefix] = append(x.byPrefix[p.prefix], int32(len(x.patterns)))
	x.patterns = append(x.patterns, indexed{p, rule})
}

// find is the matching rule of the highest precedence that is below limit, or
// limit if there is none.
func (x *index) find(path string, limit int) int {
	for _, n := range x.lengths {
		if n > len(path) {
			break
		}
		for _, i := range x.byPrefix[path[:n]] {
			p := &x.patterns[i]
			if p.rule >= limit {
				break
			}
			if p.matchRest(path[n:]) {
				limit = p.rule
				break
			}
		}
	}
	return limit
}
