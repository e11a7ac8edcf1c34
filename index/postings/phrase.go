package postings

import "slices"

// Phrase returns the rows in which the tokens follow each other. It gets their lists from
// the function token, and does not change them. With prefix, the last token is only the
// beginning of a token. As soon as a list is empty, Phrase asks for no others. No row has a
// phrase without tokens.
func Phrase(tokens []string, prefix bool, token func(token string, prefix bool) (*List, error)) (*List, error) {
	lists := make([]*List, len(tokens))
	seen := make(map[string]*List) // a token may occur twice
	for i, t := range tokens {
		begins := prefix && i == len(tokens)-1
		if l := seen[t]; l != nil && !begins {
			lists[i] = l
			continue
		}
		l, err := token(t, begins)
		if err != nil || l.Len() == 0 {
			return l, err
		}
		lists[i] = l
		if !begins {
			seen[t] = l
		}
	}
	switch len(lists) {
	case 0: // another process may ask for that
		return new(List), nil
	case 1:
		return lists[0], nil
	}
	return phrase(lists)
}

// phrase returns the rows in which the tokens of lists follow each other, at the
// positions of the first token.
func phrase(lists []*List) (*List, error) {
	out := new(List)
	m := matcher{lists: lists, at: make([]int, len(lists)), order: make([]int, len(lists))}
	for i := range lists {
		m.order[i] = i
	}
	for {
		row, ok := m.next()
		if !ok {
			return out, nil
		}
		found, err := m.positions()
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			out.add(row, found)
		}
		for i := range m.at {
			m.at[i]++
		}
	}
}

// matcher goes through the rows that lists share.
type matcher struct {
	lists []*List
	at    []int    // in each list
	order []int    // of the lists, for positions
	found []uint64 // likewise
}

// next moves all lists to the next row that they share.
func (m *matcher) next() (int64, bool) {
	row, agree := int64(0), 0
	for i := 0; agree < len(m.lists); i = (i + 1) % len(m.lists) {
		rows := m.lists[i].rows
		m.at[i] += Seek(rows[m.at[i]:], row)
		if m.at[i] == len(rows) {
			return 0, false
		}
		if got := rows[m.at[i]]; got == row && agree > 0 {
			agree++
		} else {
			row, agree = got, 1
		}
	}
	return row, true
}

// positions lists the positions of the first token in the current row at which all tokens
// follow each other. It begins with the token that occurs least often in the row, judged by
// the sizes of the lists, and stops when no position is left: most rows that have all
// tokens do not have the phrase.
func (m *matcher) positions() ([]uint64, error) {
	size := func(i int) int { return len(m.lists[i].positions(m.at[i])) }
	slices.SortFunc(m.order, func(i, j int) int { return size(i) - size(j) })
	var err error
	m.found = m.found[:0]
	for n, i := range m.order {
		l := m.lists[i]
		if n == 0 {
			m.found, err = l.decode(m.at[i], m.found)
			m.found = before(m.found, uint64(i))
		} else {
			m.found, err = l.keepBefore(m.at[i], m.found, uint64(i))
		}
		if err != nil || len(m.found) == 0 {
			return nil, err
		}
	}
	return m.found, nil
}

// before moves positions n back, and drops those that are too close to the beginning of
// their column. It overwrites the list.
func before(list []uint64, n uint64) []uint64 {
	out := list[:0]
	for _, p := range list {
		if p&(1<<32-1) >= n {
			out = append(out, p-n)
		}
	}
	return out
}

// keepBefore keeps the positions of an ascending list that are n before a position of the
// i-th row. It overwrites the list.
func (l *List) keepBefore(i int, list []uint64, n uint64) ([]uint64, error) {
	p := positionReader{rest: l.positions(i)}
	out := list[:0]
	for _, want := range list {
		for p.at < want+n || !p.begun {
			if ok, err := p.next(); err != nil {
				return nil, l.damaged(i, err)
			} else if !ok {
				return out, nil
			}
		}
		if p.at == want+n {
			out = append(out, want)
		}
	}
	return out, nil
}

// Seek returns the number of ids of an ascending list that are below id. It doubles its
// step, then searches back. So passing through a long list in a few calls costs little,
// and in many calls no more than going through it one by one.
func Seek(list []int64, id int64) int {
	if len(list) == 0 || list[0] >= id {
		return 0
	}
	step := 1
	for step < len(list) && list[step] < id {
		step *= 2
	}
	low := step / 2 // list[low] is below id
	n, _ := slices.BinarySearch(list[low:min(step+1, len(list))], id)
	return low + n
}
