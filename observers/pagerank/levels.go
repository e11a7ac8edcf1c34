package pagerank

import (
	"math"
	"slices"
)

// levels is a priority queue of nodes by residual, exact to a factor of two. A node counts
// at the highest level at which it was added since it was last removed; its entries at
// lower levels are skipped.
type levels struct {
	waiting [48][]int32
	highest int8
}

// level returns the binary logarithm of the ratio of a residual to the bound.
func level(over float64) int8 {
	return int8(max(0, min(math.Ilogb(over), len(levels{}.waiting)-1)))
}

func (l *levels) push(nodes []node, i int32, level int8) {
	if level <= nodes[i].level {
		return
	}
	nodes[i].level = level
	l.waiting[level] = append(l.waiting[level], i)
	l.highest = max(l.highest, level)
}

// pop removes and returns a node of the highest level.
func (l *levels) pop(nodes []node) (int32, bool) {
	for ; l.highest >= 0; l.highest-- {
		list := l.waiting[l.highest]
		for len(list) > 0 {
			i := list[len(list)-1]
			list = list[:len(list)-1]
			if nodes[i].level == l.highest {
				nodes[i].level = -1
				l.waiting[l.highest] = list
				return i, true
			}
		}
		l.waiting[l.highest] = list
	}
	l.highest = 0
	return 0, false
}

// next lists up to n nodes that match, those that pop will return first. It may list a node that
// has been removed since it was added.
func (l *levels) next(n int, matches func(i int32) bool) (list []int32) {
	for level := l.highest; level >= 0; level-- {
		for _, i := range slices.Backward(l.waiting[level]) {
			if len(list) >= n {
				return list
			}
			if matches(i) && !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	return list
}
