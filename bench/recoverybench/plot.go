package recoverybench

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/bench/chart"
)

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d workers that run %d observers at a time; a round trip to the store takes %g ms longer\n", r.Workers, r.Threads, r.DelayMS)
	b.WriteString("seconds   rows/s  pages/s\n")
	marks := r.Marks
	for _, i := range r.Intervals {
		fmt.Fprintf(&b, "%7.1f %8.1f %8.1f", i.From, i.Rows, i.Pages)
		for len(marks) > 0 && marks[0].At < i.From+r.interval {
			fmt.Fprintf(&b, "  %s (%.1f s)", marks[0].What, marks[0].At)
			marks = marks[1:]
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nphase                      seconds     rows/s  pages/s  share\n")
	for _, p := range r.Phases {
		b.WriteString(p.text() + "\n")
	}
	fmt.Fprintf(&b, "\nIn the first phase a row was handled at least every %.1f s.\n", r.Pause)
	for _, f := range r.Failovers {
		fmt.Fprintf(&b, "%s: it served %.1f s after the kill. From the last row before the kill to the first one after it: %.1f s.\n", f.What, f.Serving, f.Pause)
	}
	c := r.Check
	fmt.Fprintf(&b, "%d pages loaded, %d documents, %d rows given up on, %d differences, %d documents in index files.\n", r.Loaded, c.Documents, c.Dead, c.Differences, c.IndexFiles)
	if c.Digest == c.Embedded {
		fmt.Fprintf(&b, "The digest is that of one process: %s.\n", c.Digest)
	} else {
		fmt.Fprintf(&b, "The digest is %s, and that of one process %s.\n", c.Digest, c.Embedded)
	}
	return b.String()
}

func (p *Phase) text() string {
	return fmt.Sprintf("%-24s %5.1f–%-5.1f %8.1f %8.1f %6.2f", p.Name, p.From, p.To, p.Rows, p.Pages, p.Share)
}

// SVG is the plot: rows per second over time, and what was done when.
func (r *Result) SVG() string {
	rows := chart.Line{Name: "rows/s"}
	for _, i := range r.Intervals {
		rows.Points = append(rows.Points, [2]float64{i.From + r.interval/2, i.Rows})
	}
	c := chart.Chart{
		Title: fmt.Sprintf("Throughput of a deployment with %d workers", r.Workers),
		X:     "seconds", Y: "rows handled by observers per second", Linear: true, Lines: []chart.Line{rows},
	}
	for _, m := range r.Marks {
		c.Marks = append(c.Marks, chart.Mark{X: m.At, Name: m.What})
	}
	return c.SVG()
}
