// Package chart draws the plots of benchmarks as SVG: lines over logarithmic axes, or over
// linear axes that begin at zero. The same data gives the same bytes.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Chart is a plot of some lines.
type Chart struct {
	Title, X, Y string // labels of the chart and its axes
	Linear      bool   // axes that begin at zero, instead of logarithmic ones
	Lines       []Line
	Marks       []Mark
}

// Mark is a vertical line where something happened. It is left out if it is not on the
// axis, like a point.
type Mark struct {
	X    float64
	Name string
}

// Line is a line through points. Points that have no place on the axes are left out: those
// below zero, and on logarithmic axes zero as well.
type Line struct {
	Name   string
	Dashed bool
	Points [][2]float64
	Bars   []Bar
}

// Bar is a vertical line between two values. It is left out like a point.
type Bar struct{ X, From, To float64 }

// A chart is 720 × 480 with margins.
const (
	width, height = 720.0, 480.0
	left, right   = 90.0, 690.0
	top, bottom   = 40.0, 420.0
)

var colours = []string{"#0b6e99", "#b5472f", "#4f7f2b", "#7a4f9a", "#8a6d1b"}

// drawing is a chart with its axes: the values at the edges, on logarithmic axes their
// logarithms.
type drawing struct {
	strings.Builder
	linear                 bool
	xFrom, xTo, yFrom, yTo float64
}

// scale is where a value is on an axis.
func (d *drawing) scale(v float64) float64 {
	if d.linear {
		return v
	}
	return math.Log10(v)
}

// ticks are the values at which an axis has lines: powers of ten, or about ten round values.
func (d *drawing) ticks(from, to float64) (list []float64) {
	if !d.linear {
		for e := from; e <= to; e++ {
			list = append(list, math.Pow(10, e))
		}
		return list
	}
	step := roundStep(to)
	for i := 0.0; i*step <= to; i++ {
		list = append(list, i*step)
	}
	return list
}

// roundStep is the least of 1, 2 and 5 times a power of ten that divides an axis into at
// most ten parts.
func roundStep(most float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(most/10)))
	for _, n := range []float64{1, 2, 5} {
		if 10*n*power >= most {
			return n * power
		}
	}
	return 10 * power
}

// SVG returns the picture.
func (c *Chart) SVG() string {
	d := &drawing{linear: c.Linear, xFrom: math.Inf(1), xTo: math.Inf(-1), yFrom: math.Inf(1), yTo: math.Inf(-1)}
	for _, l := range c.Lines {
		for _, p := range append(d.points(l.Points), d.ends(&l)...) {
			d.xFrom, d.xTo = min(d.xFrom, d.scale(p[0])), max(d.xTo, d.scale(p[0]))
			d.yFrom, d.yTo = min(d.yFrom, d.scale(p[1])), max(d.yTo, d.scale(p[1]))
		}
	}
	for _, m := range c.Marks {
		if d.hasPlace(m.X) {
			d.xFrom, d.xTo = min(d.xFrom, d.scale(m.X)), max(d.xTo, d.scale(m.X))
		}
	}
	d.xFrom, d.xTo = d.around(d.xFrom, d.xTo)
	d.yFrom, d.yTo = d.around(d.yFrom, d.yTo)
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(d, `<rect width="%g" height="%g" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(d, `<text x="%g" y="24">%s</text>`+"\n", left, c.Title)
	d.axes(c)
	for i, l := range c.Lines {
		d.line(i, l)
	}
	for i, m := range c.Marks {
		if d.hasPlace(m.X) {
			d.mark(i, m)
		}
	}
	d.WriteString("</svg>\n")
	return d.String()
}

// around is the range of an axis with some values: from zero, or whole powers of ten.
func (d *drawing) around(from, to float64) (float64, float64) {
	if math.IsInf(from, 0) { // there are no points
		return 0, 1
	}
	if d.linear {
		if to == 0 {
			return 0, 1
		}
		step := roundStep(to)
		return 0, step * math.Ceil(to/step)
	}
	from, to = math.Floor(from), math.Ceil(to)
	return from, max(to, from+1)
}

// hasPlace reports whether a value can be on an axis.
func (d *drawing) hasPlace(v float64) bool { return v > 0 || d.linear && v == 0 }

// ends are those of the bars of a line, in pairs.
func (d *drawing) ends(l *Line) (list [][2]float64) {
	for _, b := range l.Bars {
		if ends := d.points([][2]float64{{b.X, b.From}, {b.X, b.To}}); len(ends) == 2 {
			list = append(list, ends...)
		}
	}
	return list
}

// points are those that have a place on the axes.
func (d *drawing) points(of [][2]float64) (list [][2]float64) {
	for _, p := range of {
		if d.hasPlace(p[0]) && d.hasPlace(p[1]) {
			list = append(list, p)
		}
	}
	return list
}

func (d *drawing) x(v float64) float64 {
	return left + (d.scale(v)-d.xFrom)/(d.xTo-d.xFrom)*(right-left)
}

func (d *drawing) y(v float64) float64 {
	return bottom - (d.scale(v)-d.yFrom)/(d.yTo-d.yFrom)*(bottom-top)
}

func (d *drawing) axes(c *Chart) {
	for _, v := range d.ticks(d.xFrom, d.xTo) {
		x := d.x(v)
		fmt.Fprintf(d, `<path d="M%.1f %gV%g" stroke="#ddd"/><text x="%.1f" y="%g" text-anchor="middle">%g</text>`+"\n", x, top, bottom, x, bottom+18, v)
	}
	for _, v := range d.ticks(d.yFrom, d.yTo) {
		y := d.y(v)
		fmt.Fprintf(d, `<path d="M%g %.1fH%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%g</text>`+"\n", left, y, right, left-6, y+4, v)
	}
	fmt.Fprintf(d, `<path d="M%g %gV%gH%g" fill="none" stroke="black"/>`+"\n", left, top, bottom, right)
	fmt.Fprintf(d, `<text x="%g" y="%g" text-anchor="middle">%s</text>`+"\n", (left+right)/2, bottom+42, c.X)
	fmt.Fprintf(d, `<text x="20" y="%g" text-anchor="middle" transform="rotate(-90 20 %g)">%s</text>`+"\n", (top+bottom)/2, (top+bottom)/2, c.Y)
}

func (d *drawing) line(i int, l Line) {
	colour := colours[i%len(colours)]
	style := ""
	if l.Dashed {
		style = ` stroke-dasharray="5 5"`
	}
	var path strings.Builder
	command := "M"
	for ends := range slices.Chunk(d.ends(&l), 2) {
		fmt.Fprintf(d, `<path d="M%.1f %.1fV%.1f" stroke="%s"/>`+"\n", d.x(ends[0][0]), d.y(ends[0][1]), d.y(ends[1][1]), colour)
	}
	for _, p := range d.points(l.Points) {
		fmt.Fprintf(&path, "%s%.1f %.1f", command, d.x(p[0]), d.y(p[1]))
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", d.x(p[0]), d.y(p[1]), colour)
		command = "L"
	}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", path.String(), colour, style)
	y := top + 20 + 18*float64(i)
	fmt.Fprintf(d, `<path d="M%g %gh24" stroke="%s" stroke-width="2"%s/><text x="%g" y="%g">%s</text>`+"\n", left+16, y-4, colour, style, left+48, y, l.Name)
}

// mark draws a mark, with its name near the bottom: names of neighbours are at different heights.
func (d *drawing) mark(i int, m Mark) {
	x, y := d.x(m.X), bottom-10-18*float64(i%4)
	fmt.Fprintf(d, `<path d="M%.1f %gV%g" stroke="#888" stroke-dasharray="2 4"/><text x="%.1f" y="%g" font-size="11">%s</text>`+"\n", x, top, bottom, x+4, y, m.Name)
}
