package page

import "slices"

// ranges are parts of a text, in ascending order and without overlaps.
type ranges []Range

// enclose adds a range that ends behind all others. It takes the place of those inside it.
func (rs ranges) enclose(r Range) ranges {
	if r.Start >= r.End {
		return rs
	}
	for n := len(rs); n > 0 && rs[n-1].Start >= r.Start; n-- {
		rs = rs[:n-1]
	}
	return append(rs, r)
}

func (rs ranges) size() (n int) {
	for _, r := range rs {
		n += r.End - r.Start
	}
	return n
}

// without returns what rs has and out does not have.
func (rs ranges) without(out ranges) ranges {
	var left ranges
	for _, r := range rs {
		for len(out) > 0 && out[0].End <= r.Start {
			out = out[1:]
		}
		for _, o := range out {
			if o.Start >= r.End {
				break
			}
			if o.Start > r.Start {
				left = append(left, Range{r.Start, o.Start})
			}
			r.Start = max(r.Start, o.End)
		}
		if r.Start < r.End {
			left = append(left, r)
		}
	}
	return left
}

// trimmed drops white space at both ends of each range, and ranges without a letter or
// digit, which are what separates links.
func (rs ranges) trimmed(text []byte) ranges {
	kept := rs[:0]
	for _, r := range rs {
		for r.Start < r.End && text[r.Start] == ' ' {
			r.Start++
		}
		for r.Start < r.End && text[r.End-1] == ' ' {
			r.End--
		}
		if hasWord(text[r.Start:r.End]) {
			kept = append(kept, r)
		}
	}
	return kept
}

func hasWord(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 || isAlnum(c) {
			return true
		}
	}
	return false
}

// joined joins neighbours that are at most one byte apart, and then those with the shortest
// gaps until there are at most limit.
func (rs ranges) joined(limit int) ranges {
	if len(rs) < 2 {
		return rs
	}
	gaps := make([]int, 0, len(rs))
	for i := 1; i < len(rs); i++ {
		gaps = append(gaps, rs[i].Start-rs[i-1].End)
	}
	longest := 1
	if slices.Sort(gaps); len(rs) > limit {
		longest = max(longest, gaps[len(rs)-limit-1])
	}
	kept := rs[:1]
	for _, r := range rs[1:] {
		if last := &kept[len(kept)-1]; r.Start-last.End <= longest {
			last.End = r.End
		} else {
			kept = append(kept, r)
		}
	}
	return kept
}

// has reports whether a place is in one of the ranges.
func (rs ranges) has(at int) bool {
	i, found := slices.BinarySearchFunc(rs, at, func(r Range, at int) int { return r.Start - at })
	return found || i > 0 && at < rs[i-1].End
}

// kept returns an empty list with the buffer of rs, unless that is long.
func (rs ranges) kept() ranges {
	if cap(rs) > keptElements {
		return nil
	}
	return rs[:0]
}
