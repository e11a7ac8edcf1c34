// Package chart draws the plots of benchmarks as SVG: a few lines over logarithmic axes.
package chart

import (
	"fmt"
	"math"
	"strings"
)

// Chart is a plot of some lines.
type Chart struct {
	Title, X, Y string // what the axes are
	Lines       []Line
}

// Line is a line through points. Points that are not above zero have no place on a logarithmic axis, and
// are left out.
type Line struct {
	Name   string
	Dashed bool
	Points [][2]float64
}

// A chart is 720 × 480 with margins.
const (
	width, height = 720.0, 480.0
	left, right   = 90.0, 690.0
	top, bottom   = 40.0, 420.0
)

var colours = []string{"#0b6e99", "#b5472f", "#4f7f2b", "#7a4f9a", "#8a6d1b"}

// drawing is a chart with its axes: logarithms of the values at the edges.
type drawing struct {
	strings.Builder
	xFrom, xTo, yFrom, yTo float64
}

// SVG returns the picture.
func (c *Chart) SVG() string {
	d := &drawing{xFrom: math.Inf(1), xTo: math.Inf(-1), yFrom: math.Inf(1), yTo: math.Inf(-1)}
	for _, l := range c.Lines {
		for _, p := range l.points() {
			d.xFrom, d.xTo = min(d.xFrom, math.Log10(p[0])), max(d.xTo, math.Log10(p[0]))
			d.yFrom, d.yTo = min(d.yFrom, math.Log10(p[1])), max(d.yTo, math.Log10(p[1]))
		}
	}
	d.xFrom, d.xTo = around(d.xFrom, d.xTo)
	d.yFrom, d.yTo = around(d.yFrom, d.yTo)
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(d, `<rect width="%g" height="%g" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(d, `<text x="%g" y="24">%s</text>`+"\n", left, c.Title)
	d.axes(c)
	for i, l := range c.Lines {
		d.line(i, l)
	}
	d.WriteString("</svg>\n")
	return d.String()
}

// around is the whole powers of ten around a range.
func around(from, to float64) (float64, float64) {
	if math.IsInf(from, 0) { // there are no points
		return 0, 1
	}
	from, to = math.Floor(from), math.Ceil(to)
	return from, max(to, from+1)
}

func (l *Line) points() (list [][2]float64) {
	for _, p := range l.Points {
		if p[0] > 0 && p[1] > 0 {
			list = append(list, p)
		}
	}
	return list
}

func (d *drawing) x(v float64) float64 {
	return left + (math.Log10(v)-d.xFrom)/(d.xTo-d.xFrom)*(right-left)
}

func (d *drawing) y(v float64) float64 {
	return bottom - (math.Log10(v)-d.yFrom)/(d.yTo-d.yFrom)*(bottom-top)
}

func (d *drawing) axes(c *Chart) {
	for e := d.xFrom; e <= d.xTo; e++ {
		x := d.x(math.Pow(10, e))
		fmt.Fprintf(d, `<path d="M%.1f %gV%g" stroke="#ddd"/><text x="%.1f" y="%g" text-anchor="middle">%g</text>`+"\n", x, top, bottom, x, bottom+18, math.Pow(10, e))
	}
	for e := d.yFrom; e <= d.yTo; e++ {
		y := d.y(math.Pow(10, e))
		fmt.Fprintf(d, `<path d="M%g %.1fH%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%g</text>`+"\n", left, y, right, left-6, y+4, math.Pow(10, e))
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
	for _, p := range l.points() {
		fmt.Fprintf(&path, "%s%.1f %.1f", command, d.x(p[0]), d.y(p[1]))
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", d.x(p[0]), d.y(p[1]), colour)
		command = "L"
	}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", path.String(), colour, style)
	y := top + 20 + 18*float64(i)
	fmt.Fprintf(d, `<path d="M%g %gh24" stroke="%s" stroke-width="2"%s/><text x="%g" y="%g">%s</text>`+"\n", left+16, y-4, colour, style, left+48, y, l.Name)
}
