package clusterbench

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/bench/chart"
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
		b.WriteString("the batch job is faster at none of these rates\n")
	}
	return b.String()
}

func (d Delay) text() string {
	if d.Unbounded {
		return fmt.Sprintf("%11s %11s %11s", "∞", "∞", "∞")
	}
	return fmt.Sprintf("%11.2f %11.2f %11.2f", d.P5, d.P50, d.P95)
}

// SVG is Figure 7: medians as lines, bars from the 5th to the 95th percentile, and the crawl
// rate at which the observer is saturated.
func (r *Result) SVG() string {
	c := chart.Chart{
		Title: fmt.Sprintf("Delay from crawled to clustered, %d documents", r.Documents), X: "crawl rate: percent of the repository an hour", Y: "ms",
		Lines: []chart.Line{
			r.line("observer", func(row Row) Delay { return row.Observer }),
			r.line("batch", func(row Row) Delay { return row.Batch }),
		},
	}
	c.Lines[0].Dashed = true
	if s := r.SaturationPercent; s < r.Rows[len(r.Rows)-1].Percent {
		c.Marks = []chart.Mark{{X: s, Name: "the observer is saturated"}}
	}
	return c.SVG()
}

func (r *Result) line(name string, of func(Row) Delay) chart.Line {
	l := chart.Line{Name: name}
	for _, row := range r.Rows {
		if d := of(row); !d.Unbounded {
			l.Points = append(l.Points, [2]float64{row.Percent, d.P50})
			l.Bars = append(l.Bars, chart.Bar{X: row.Percent, From: d.P5, To: d.P95})
		}
	}
	return l
}
