package scalebench

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/bench/chart"
)

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "store: %s; each call takes %g ms longer; a worker does %d things at a time\n", r.Store, r.DelayMS, r.Threads)
	b.WriteString("                                              calls each                               ms a\n")
	b.WriteString("work           workers    per s  efficiency   reads   scans  guarded  writes     all    call  adjusted   cores\n")
	for _, row := range r.Rows {
		b.WriteString(row.text() + "\n")
	}
	return b.String()
}

func (r *Row) text() string {
	c := r.Each
	s := fmt.Sprintf("%-14s %7d %8.1f %11.2f %7.1f %7.1f %8.1f %7.1f %7.1f", r.Work, r.Workers, r.PerSecond, r.Efficiency, c.Reads, c.Scans, c.Guarded, c.Writes, c.All())
	if r.Cores == 0 { // workers are processes, and the delay is in a proxy
		return s + "       –         –       –"
	}
	return s + fmt.Sprintf(" %7.2f %9.2f %7.2f", r.CallMS, r.Adjusted, r.Cores)
}

// SVG is Figure 9: the throughput by number of workers, relative to one worker, for each kind
// of work, and the diagonal of perfect scaling.
func (r *Result) SVG() string {
	c := chart.Chart{
		Title: fmt.Sprintf("Throughput by number of workers; each call of the store (%s) takes %g ms longer", r.Store, r.DelayMS),
		X:     "workers", Y: "times the throughput of one worker", Linear: true,
	}
	most := 1.0
	for i, row := range r.Rows {
		if i == 0 || row.Work != r.Rows[i-1].Work {
			c.Lines = append(c.Lines, chart.Line{Name: fmt.Sprintf("%s: %.1f a second with %d", row.Work, row.PerSecond, row.Workers)})
		}
		workers := float64(row.Workers)
		l := &c.Lines[len(c.Lines)-1]
		l.Points = append(l.Points, [2]float64{workers, row.Efficiency * workers})
		most = max(most, workers)
	}
	c.Lines = append(c.Lines, chart.Line{Name: "perfect scaling", Dashed: true, Points: [][2]float64{{0, 0}, {most, most}}})
	return c.SVG()
}
