package scalebench

import (
	"fmt"
	"slices"
	"strings"
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

// The plot has linear axes that begin at zero.
const (
	plotWidth, plotHeight = 720.0, 480.0
	plotLeft, plotRight   = 80.0, 690.0
	plotTop, plotBottom   = 40.0, 420.0
)

var colours = map[string]string{Transactions: "#0b6e99", Pages: "#b5472f"}

// SVG is the plot: the throughput by number of workers, relative to one worker, for each
// kind of work, and the diagonal of perfect scaling.
func (r *Result) SVG() string {
	most := 1
	for _, row := range r.Rows {
		most = max(most, row.Workers)
	}
	x := func(workers float64) float64 { return plotLeft + workers/float64(most)*(plotRight-plotLeft) }
	y := func(times float64) float64 { return plotBottom - min(times/float64(most), 1.1)*(plotBottom-plotTop) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%g" height="%g" fill="white"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<text x="%g" y="24">Throughput by number of workers; each call of the store (%s) takes %g ms longer</text>`+"\n", plotLeft, r.Store, r.DelayMS)
	fmt.Fprintf(&b, `<path d="M%g %gV%gH%g" fill="none" stroke="black"/>`+"\n", plotLeft, plotTop, plotBottom, plotRight)
	for _, n := range r.workers() {
		v := float64(n)
		fmt.Fprintf(&b, `<path d="M%g %.1fH%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%d ×</text>`+"\n", plotLeft, y(v), plotRight, plotLeft-6, y(v)+4, n)
		fmt.Fprintf(&b, `<text x="%.1f" y="%g" text-anchor="middle">%d</text>`+"\n", x(v), plotBottom+18, n)
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">workers</text>`+"\n", (plotLeft+plotRight)/2, plotBottom+42)
	fmt.Fprintf(&b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="#888" stroke-dasharray="2 4"/>`+"\n", x(0), y(0), x(float64(most)), y(float64(most)))
	for i, work := range []string{Transactions, Pages} {
		r.series(&b, work, i, x, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (r *Result) workers() (list []int) {
	for _, row := range r.Rows {
		if !slices.Contains(list, row.Workers) {
			list = append(list, row.Workers)
		}
	}
	return list
}

// series draws one kind of work, if it was measured.
func (r *Result) series(b *strings.Builder, work string, i int, x, y func(float64) float64) {
	command, path, base := "M", "", Row{}
	for _, row := range r.Rows {
		if row.Work != work {
			continue
		}
		if command == "M" {
			base = row
		}
		times := row.Efficiency * float64(row.Workers)
		path += fmt.Sprintf("%s%.1f %.1f", command, x(float64(row.Workers)), y(times))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(float64(row.Workers)), y(times), colours[work])
		command = "L"
	}
	if path == "" {
		return
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path, colours[work])
	fmt.Fprintf(b, `<text x="%g" y="%g" fill="%s">%s: %.1f a second with %d</text>`+"\n", plotLeft+16, plotTop+20+float64(18*i), colours[work], work, base.PerSecond, base.Workers)
}
