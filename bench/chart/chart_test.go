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
		"nothing":       {Title: "nothing"},
		"one point":     {Lines: []Line{{Name: "a", Points: [][2]float64{{1, 1}}}}},
		"no place":      {Lines: []Line{{Name: "a", Points: [][2]float64{{0, 1}, {1, -1}}}}},
		"several lines": {Lines: []Line{{Name: "a", Points: [][2]float64{{1, 5}, {64, 0.2}}}, {Name: "b", Dashed: true, Points: [][2]float64{{2, 700}}}}},
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
