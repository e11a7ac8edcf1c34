package search

import "testing"

// TestLowerPartial: the titles of documents without all the words count half if a document that has
// them is named for the query. A front page is what the query names, whatever it lacks.
func TestLowerPartial(t *testing.T) {
	for _, all := range []float64{titleNames - 0.01, titleNames} {
		list := []candidate{{titleMatch: all}, {titleMatch: 0.9, partial: true}, {titleMatch: 1, partial: true, front: true}}
		lowerPartial(list)
		want := 0.9
		if all >= titleNames {
			want *= partialTitle
		}
		if list[0].titleMatch != all || list[1].titleMatch != want || list[2].titleMatch != 1 {
			t.Errorf("beside %v: %v and %v, want %v and 1", all, list[1].titleMatch, list[2].titleMatch, want)
		}
	}
}
