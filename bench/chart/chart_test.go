package chart

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// TestSVG: a chart is well-formed, with whatever points, and none lies outside the axes.
func TestSVG(t *testing.T) {
	for name, c := range map[string]Chart{
		"nothing":        {Title: "nothing"},
		"one point":      {Lines: []Line{{Name: "a", Points: [][2]float64{{1, 1}}}}},
		"no place":       {Lines: []Line{{Name: "a", Points: [][2]float64{{0, 1}, {1, -1}}}}},
		"linear":         {Linear: true, Lines: []Line{{Name: "a", Points: [][2]float64{{0, 0}, {12.5, 730}, {20, -1}}}}, Marks: []Mark{{3, "killed"}, {30, "over"}, {-1, "before"}}},
		"linear, all 0":  {Linear: true, Lines: []Line{{Name: "a", Points: [][2]float64{{0, 0}}}}},
		"bars":           {Lines: []Line{{Name: "a", Points: [][2]float64{{1, 5}}, Bars: []Bar{{1, 2, 70}, {2, 0, 1}, {3, 1, 0}}}}},
		"linear nothing": {Linear: true},
		"several lines":  {Lines: []Line{{Name: "a", Points: [][2]float64{{1, 5}, {64, 0.2}}}, {Name: "b", Dashed: true, Points: [][2]float64{{2, 700}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			svg := c.SVG()
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%v in %s", err, svg)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("there is a point nowhere: %s", svg)
			}
		})
	}
}

// TestLinear: zero is at the corner of linear axes, and ticks are round.
func TestLinear(t *testing.T) {
	d := &drawing{linear: true}
	d.xFrom, d.xTo = d.around(3, 47)
	if got := d.ticks(d.xFrom, d.xTo); d.xTo != 50 || len(got) != 11 || got[1] != 5 {
		t.Errorf("an axis to %g with ticks %v", d.xTo, got)
	}
	if x := d.x(0); x != left {
		t.Errorf("zero is at %g, want %g", x, left)
	}
}
