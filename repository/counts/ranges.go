package counts

import (
	"slices"
	"sort"
	"strings"
)

const (
	rangeCells = 1024    // cells in a range, at first
	maxRanges  = 1 << 15 // in a part; with more, they are united in pairs
)

// ranges are the ranges into which the rows of a part are divided, ascending. The first begins
// at "", and each ends where the next begins.
type ranges struct {
	list  []rowRange
	size  int // cells in a new range
	stale int // ranges that are stale
}

// A rowRange is a range of rows with its counts.
type rowRange struct {
	start   string
	tally   tally
	counted uint64 // timestamp of the snapshot
	stale   bool   // something has been written since, or it was never counted
}

// newRanges returns a single range, which has to be counted.
func newRanges(size int) *ranges {
	return &ranges{list: []rowRange{{stale: true}}, size: size, stale: 1}
}

// write notes that a row was written.
func (r *ranges) write(row string, commit uint64) {
	i := sort.Search(len(r.list), func(i int) bool { return r.list[i].start > row }) - 1
	if at := &r.list[i]; !at.stale && commit > at.counted {
		at.stale = true
		r.stale++
	}
}

// staleSpans returns the spans that consist of stale ranges.
func (r *ranges) staleSpans() (list []span) {
	open := false
	for i := range r.list {
		at := &r.list[i]
		switch {
		case at.stale && !open:
			list = append(list, span{from: at.start})
		case !at.stale && open:
			list[len(list)-1].to = at.start
		}
		open = at.stale
	}
	return list
}

// replace replaces the ranges of each span with the newly counted ones, and returns the sum of
// all ranges.
func (r *ranges) replace(spans []span, counted [][]rowRange) (sum tally) {
	var list []rowRange
	rest := r.list
	for i, s := range spans {
		from, to := indexOf(rest, s.from), len(rest)
		if s.to != "" {
			to = indexOf(rest, s.to)
		}
		list = append(append(list, rest[:from]...), counted[i]...)
		rest = rest[to:]
	}
	r.list = append(list, rest...)
	for len(r.list) > maxRanges {
		r.unite()
	}
	r.stale = 0
	for i := range r.list {
		sum.add(&r.list[i].tally)
		if r.list[i].stale {
			r.stale++
		}
	}
	return sum
}

// indexOf returns the place of the range that begins at a row.
func indexOf(list []rowRange, start string) int {
	i, _ := slices.BinarySearchFunc(list, start, func(r rowRange, start string) int { return strings.Compare(r.start, start) })
	return i
}

// unite makes one range of each pair.
func (r *ranges) unite() {
	half := r.list[:0]
	for i := 0; i < len(r.list); i += 2 {
		both := r.list[i]
		if i+1 < len(r.list) {
			second := &r.list[i+1]
			both.tally.add(&second.tally)
			both.counted, both.stale = min(both.counted, second.counted), both.stale || second.stale
		}
		half = append(half, both)
	}
	r.list = half
	r.size *= 2
}
