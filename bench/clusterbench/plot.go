package clusterbench

import (
	"fmt"
	"math"
	"strings"
)

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d documents in %d clusters; a batch run takes %.3f s; an hour is %.1f s\n", r.Documents, r.Clusters, r.Batch, r.Hour)
	fmt.Fprintf(&b, "the observer clusters at most %.0f documents a second, %.0f %% of the repository an hour\n", r.Saturation, r.SaturationPercent)
	b.WriteString("                         observer: ms from crawled to clustered        batch: ms from crawled to clustered\n")
	b.WriteString("% an hour  documents/s          p5         p50         p95          p5         p50         p95  batch/observer\n")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "%9g %12.1f %s %s", row.Percent, row.PerSecond, row.Observer.text(), row.Batch.text())
		if row.Ratio > 0 {
			fmt.Fprintf(&b, " %15.0f", row.Ratio)
		}
		b.WriteByte('\n')
	}
	if r.CrossOver > 0 {
		fmt.Fprintf(&b, "from %g %% an hour on the batch job is faster\n", r.CrossOver)
	} else {
		b.WriteString("the observer is faster at every rate\n")
	}
	return b.String()
}

func (d Delay) text() string {
	if d.Unbounded {
		return fmt.Sprintf("%11s %11s %11s", "∞", "∞", "∞")
	}
	return fmt.Sprintf("%11.2f %11.2f %11.2f", d.P5, d.P50, d.P95)
}

// The plot is 720 × 480 with margins; both axes are logarithmic.
const (
	plotWidth, plotHeight       = 720.0, 480.0
	plotLeft, plotRight         = 80.0, 700.0
	plotTop, plotBottom         = 40.0, 420.0
	observerColour, batchColour = "#0b6e99", "#b5472f"
)

// plot draws Figure 7.
type plot struct {
	strings.Builder
	left, right, bottom, top float64 // logarithms of the values at the edges
}

// SVG is the plot: medians as lines, bars from the 5th to the 95th percentile, and the
// crawl rate at which the observer is saturated as a dotted line.
func (r *Result) SVG() string {
	p := &plot{left: math.Inf(1), right: math.Inf(-1), bottom: math.Inf(1), top: math.Inf(-1)}
	for _, row := range r.Rows {
		p.left, p.right = min(p.left, math.Log10(row.Percent)), max(p.right, math.Log10(row.Percent))
		for _, d := range []Delay{row.Observer, row.Batch} {
			if !d.Unbounded && d.P5 > 0 {
				p.bottom, p.top = min(p.bottom, math.Log10(d.P5)), max(p.top, math.Log10(d.P95))
			}
		}
	}
	if math.IsInf(p.bottom, 0) { // nothing keeps up
		p.bottom, p.top = 0, 1
	}
	p.bottom, p.top = math.Floor(p.bottom), math.Ceil(p.top)
	if p.right == p.left {
		p.right++
	}
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(p, `<rect width="%g" height="%g" fill="white"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(p, `<text x="%g" y="24">Delay from crawled to clustered, %d documents</text>`+"\n", plotLeft, r.Documents)
	p.axes(r)
	if s := r.SaturationPercent; s > 0 && math.Log10(s) > p.left && math.Log10(s) < p.right {
		fmt.Fprintf(p, `<line x1="%.1f" y1="%g" x2="%.1f" y2="%g" stroke="%s" stroke-dasharray="2 4"/>`+"\n", p.x(s), plotTop, p.x(s), plotBottom, observerColour)
	}
	p.series(r.Rows, "observer", observerColour, ` stroke-dasharray="7 4"`, func(row Row) Delay { return row.Observer })
	p.series(r.Rows, "batch", batchColour, "", func(row Row) Delay { return row.Batch })
	p.WriteString("</svg>\n")
	return p.String()
}

func (p *plot) x(percent float64) float64 {
	return plotLeft + (math.Log10(percent)-p.left)/(p.right-p.left)*(plotRight-plotLeft)
}

func (p *plot) y(ms float64) float64 {
	return plotBottom - (math.Log10(ms)-p.bottom)/(p.top-p.bottom)*(plotBottom-plotTop)
}

func (p *plot) axes(r *Result) {
	fmt.Fprintf(p, `<path d="M%g %gV%gH%g" fill="none" stroke="black"/>`+"\n", plotLeft, plotTop, plotBottom, plotRight)
	for e := p.bottom; e <= p.top; e++ {
		v := math.Pow(10, e)
		fmt.Fprintf(p, `<path d="M%g %.1fH%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLeft, p.y(v), plotRight, plotLeft-6, p.y(v)+4, duration(v))
	}
	for _, row := range r.Rows {
		fmt.Fprintf(p, `<text x="%.1f" y="%g" text-anchor="middle">%g</text>`+"\n", p.x(row.Percent), plotBottom+18, row.Percent)
	}
	fmt.Fprintf(p, `<text x="%g" y="%g" text-anchor="middle">crawl rate: percent of the repository an hour</text>`+"\n", (plotLeft+plotRight)/2, plotBottom+42)
}

// duration is a power of ten of milliseconds as people write it.
func duration(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%g s", ms/1000)
	}
	return fmt.Sprintf("%g ms", ms)
}

func (p *plot) series(rows []Row, name, colour, style string, of func(Row) Delay) {
	var path strings.Builder
	command := "M"
	for _, row := range rows {
		d := of(row)
		if d.Unbounded || d.P5 <= 0 {
			continue
		}
		x := p.x(row.Percent)
		fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x, p.y(d.P5), x, p.y(d.P95), colour)
		fmt.Fprintf(&path, "%s%.1f %.1f", command, x, p.y(d.P50))
		if command == "M" {
			fmt.Fprintf(p, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", x+8, p.y(d.P50)-8, colour, name)
		}
		command = "L"
	}
	fmt.Fprintf(p, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", path.String(), colour, style)
}
