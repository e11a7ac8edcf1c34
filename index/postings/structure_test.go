package postings

import (
	"slices"
	"testing"
)

// record makes a structure record of levels, the lowest first: for each, the number of
// segments that are being merged, and the pages of its segments.
func record(levels ...[]uint64) []byte {
	b := append([]byte{0, 0, 0, 1}, structureV2...)
	total := 0
	for _, l := range levels {
		total += len(l) - 1
	}
	b = appendVarint(appendVarint(appendVarint(b, uint64(len(levels))), uint64(total)), 0)
	id := uint64(0)
	for _, l := range levels {
		b = appendVarint(appendVarint(b, l[0]), uint64(len(l)-1))
		for _, pages := range l[1:] {
			id++
			for _, v := range []uint64{id, 1, pages, 0, 0, 0, 0, 0} {
				b = appendVarint(b, v)
			}
		}
	}
	return b
}

func TestNextMerges(t *testing.T) {
	for _, test := range []struct {
		name   string
		levels [][]uint64
		want   []Merge
	}{
		{"none", nil, nil},
		{"an empty level", [][]uint64{{0}}, nil},
		{"one level", [][]uint64{{0, 2, 3, 4}}, []Merge{{3, 9}}},
		{"the level with the most", [][]uint64{{0, 1, 1}, {0, 10, 10, 10}, {0, 500}}, []Merge{{3, 30}}},
		{"the lower of two, and then the other", [][]uint64{{0, 1, 1, 1}, {0, 10}, {0, 50, 50, 50}}, []Merge{{3, 3}, {3, 150}}},
		{"the next level fills up", [][]uint64{{0, 1, 1, 1}, {0, 10, 10}}, []Merge{{3, 3}, {3, 23}}},
		{"one that has begun", [][]uint64{{0, 1}, {2, 10, 20, 5}, {0, 50, 50, 50}}, []Merge{{2, 30}, {3, 150}}},
		{"more than in one that has begun", [][]uint64{{0, 1, 1, 1}, {2, 10, 20, 5}}, []Merge{{3, 3}, {3, 33}}},
	} {
		got, err := NextMerges(record(test.levels...))
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; want %v", test.name, got, err, test.want)
		}
	}
	if _, err := NextMerges([]byte("what is this")); err == nil {
		t.Error("no error from a record of another version")
	}
}
