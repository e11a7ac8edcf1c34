package renderbench

import (
	"slices"
	"testing"
)

// TestMedians: each figure is the median of its own rounds.
func TestMedians(t *testing.T) {
	got := medians([]Mode{
		{Mode: "all", Seconds: 3, CPU: 10, Rendered: 5, RenderedPerSecond: 2, BrowserCPU: 400, Failed: 1},
		{Mode: "all", Seconds: 1, CPU: 30, Rendered: 5, RenderedPerSecond: 9, BrowserCPU: 500, Failed: 0},
		{Mode: "all", Seconds: 2, CPU: 20, Rendered: 4, RenderedPerSecond: 1, BrowserCPU: 900, Failed: 0},
	})
	want := Mode{Mode: "all", Seconds: 2, CPU: 20, Rendered: 5, RenderedPerSecond: 2, BrowserCPU: 500, Failed: 0}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestCompare: modes are compared with off only if it is the first one and its cost is known.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		modes []Mode
		want  []float64
	}{
		{[]Mode{{Mode: "off", CPU: 2}, {Mode: "auto", CPU: 3}, {Mode: "all", CPU: 10}}, []float64{0, 1.5, 5}},
		{[]Mode{{Mode: "auto", CPU: 2}, {Mode: "off", CPU: 1}}, []float64{0, 0}},
		{[]Mode{{Mode: "off"}, {Mode: "all", CPU: 10}}, []float64{0, 0}},
	} {
		r := &Result{Modes: c.modes}
		r.compare()
		var got []float64
		for _, m := range r.Modes {
			got = append(got, m.TimesOff)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %g, want %g", c.modes, got, c.want)
		}
	}
}
