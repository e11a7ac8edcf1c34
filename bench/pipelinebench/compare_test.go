package pipelinebench

import (
	"slices"
	"testing"
)

// TestDoubled: only a doubling of a guarded figure counts.
func TestDoubled(t *testing.T) {
	c := &Comparison{Figures: []Figure{
		{Name: "slightly more", Ratio: 1.9, Guards: true},
		{Name: "doubled", Ratio: 2.1, Guards: true},
		{Name: "not guarded", Ratio: 30},
		{Name: "unknown", Guards: true},
	}}
	if got, want := c.Doubled(), []string{"doubled"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
