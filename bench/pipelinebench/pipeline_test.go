package pipelinebench

import "testing"

// TestResult: medians of the rounds, by response, and compared with the first side.
func TestResult(t *testing.T) {
	last := &Side{Pages: 10}
	r := newResult([]Compared{
		{Kind: Plain, CPU: []float64{1, 9, 2}, Seconds: []float64{4, 5, 30}, Last: last},
		{Kind: Pipeline, CPU: []float64{8, 4}, Seconds: []float64{10, 30}, Last: last},
		{Kind: bulk, CPU: []float64{0}, Seconds: []float64{0}, Last: &Side{}},
	})
	for i, want := range []struct{ cpu, plain, rate float64 }{{200, 1, 2}, {600, 3, 0.5}, {0, 0, 0}} {
		if s := r.Sides[i]; s.CPUms != want.cpu || s.Plain != want.plain || s.Rate != want.rate {
			t.Errorf("%s: %g ms a response, %g × plain, %g responses a second; want %+v", s.Kind, s.CPUms, s.Plain, s.Rate, want)
		}
	}
	if r.Pages != 10 {
		t.Errorf("%d responses", r.Pages)
	}
}
