package pipelinebench

import (
	"slices"
	"testing"
)

// TestComparison: the least of all rounds counts, and what is little or unknown guards nothing.
func TestComparison(t *testing.T) {
	old := []*Side{{Pages: 7, CPU: 4, Allocated: 9e6, Written: 6e6}, {Pages: 7, CPU: 3, Allocated: 8e6, Written: 5e6}}
	now := []*Side{{Pages: 7, CPU: 6, Allocated: 20e6, Written: 50e6}, {Pages: 7, CPU: 9, Allocated: 16e6, Written: 40e6}}
	c := compared(old, now)
	want := []Figure{
		{"processor time, s", 3, 6, 2, true},
		{"allocated, MB", 8, 16, 2, true},
		{"allocated objects, 1000s", 0, 0, 0, true},
		{"written, MB", 5, 40, 8, false},
	}
	if got := c.Figures[:len(want)]; c.Pages != 7 || !slices.Equal(got, want) {
		t.Errorf("%d responses, %+v; want %+v", c.Pages, got, want)
	}
	old[1].CPU = 0.9
	if f := compared(old, now).Figures[0]; f.Guards {
		t.Errorf("less than a second guards: %+v", f)
	}
}

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
