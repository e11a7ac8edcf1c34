package postings

import "slices"

// phrase is the rows in which the tokens of lists follow each other, at the positions of
// the first token.
func phrase(lists []*List) (*List, error) {
	out := new(List)
	at := make([]int, len(lists)) // in each list
	positions := make([][]uint64, len(lists))
	for shortest := slices.MinFunc(lists, func(a, b *List) int { return len(a.rows) - len(b.rows) }); len(out.rows) <= len(shortest.rows); {
		row, ok := commonRow(lists, at)
		if !ok {
			return out, nil
		}
		for i, l := range lists {
			var err error
			if positions[i], err = l.decode(at[i], positions[i][:0]); err != nil {
				return nil, err
			}
			at[i]++
		}
		if found := follow(positions); len(found) > 0 {
			out.add(row, found)
		}
	}
	return out, nil
}

// commonRow moves all lists to the next row that they share.
func commonRow(lists []*List, at []int) (int64, bool) {
	row, agree := int64(0), 0
	for i := 0; agree < len(lists); i = (i + 1) % len(lists) {
		l := lists[i]
		for at[i] < len(l.rows) && l.rows[at[i]] < row {
			at[i]++
		}
		if at[i] == len(l.rows) {
			return 0, false
		}
		if got := l.rows[at[i]]; got == row && agree > 0 {
			agree++
		} else {
			row, agree = got, 1
		}
	}
	return row, true
}

// follow lists the positions of the first token at which all tokens follow each other. It overwrites the first list.
func follow(positions [][]uint64) []uint64 {
	found := positions[0]
	for n, list := range positions[1:] {
		want := uint64(n + 1)
		k := 0
		found = slices.DeleteFunc(found, func(p uint64) bool {
			for k < len(list) && list[k] < p+want {
				k++
			}
			return k == len(list) || list[k] != p+want
		})
	}
	return found
}
