package pipelinebench

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/profile"
)

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d responses, medians; rounds: %d\n", r.Pages, len(r.Sides[0].CPU))
	b.WriteString("            ms of CPU a response  × plain  responses/s  MB written  kept  ratio  allocated MB  resident MB  + mapped\n")
	for _, s := range r.Sides {
		l := s.Last
		fmt.Fprintf(&b, "%-10s  %20.2f  %7.2f  %11.0f  %10.0f  %4.0f  %5.1f  %12.0f  %11.0f  %8.0f\n", s.Kind, s.CPUms, s.Plain, s.Rate,
			mb(l.Written), mb(l.Kept), l.writtenByKept(), mb(int64(l.Allocated)), mb(l.Resident.Own), mb(l.Resident.Mapped))
	}
	for _, kind := range []string{Pipeline, Plain} {
		last := r.lastOf(kind)
		fmt.Fprintf(&b, "\nwhere the processor time of %s went, in the last round:\n", kind)
		cpuText(&b, last, last.Parts)
	}
	last := r.lastOf(Pipeline)
	b.WriteString("\nthe same of pipeline, by what it was done for:\n")
	cpuText(&b, last, last.StageParts)
	fmt.Fprintf(&b, "\nheap of pipeline, when all was loaded (at most %.0f MB were live):\n", mb(int64(last.Heap.Live)))
	for _, p := range last.HeapParts {
		if p.Share >= 0.005 {
			fmt.Fprintf(&b, "  %-26s %8.1f MB %5.1f %%\n", p.Name, mb(p.Value), 100*p.Share)
		}
	}
	b.WriteString("\nobservers of pipeline, waiting included:\n")
	measure.StagesText(&b, measure.WithShares(last.Stages))
	return b.String()
}

// cpuText divides the processor time of a side. Shares come from a profile.
func cpuText(b *strings.Builder, s *Side, parts []profile.Part) {
	total := s.CPU + s.OpenCPU
	for _, p := range parts {
		fmt.Fprintf(b, "  %-26s %8.3f ms a response %5.1f %%\n", p.Name, 1000*total*p.Share/float64(max(s.Pages, 1)), 100*p.Share)
	}
}

// Text is the result as people read it.
func (g *Growth) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d responses on top of others\n", g.Steps[0].Top.Pages)
	b.WriteString("   others  ms of CPU a response  × first  responses/s  MB written  kept  ratio  resident MB  + mapped  opening s  (CPU s)  others: ms of CPU each\n")
	for _, s := range g.Steps {
		t := s.Top
		fmt.Fprintf(&b, "%9d  %20.2f  %7.2f  %11.0f  %10.0f  %4.0f  %5.1f  %11.0f  %8.0f  %9.2f  %7.2f", s.Others, s.CPUms, s.Times,
			float64(t.Pages)/max(t.Seconds, 1e-9), mb(t.Written), mb(t.Kept), t.writtenByKept(), mb(t.Resident.Own), mb(t.Resident.Mapped), t.OpenSeconds, t.OpenCPU)
		if s.Base != nil {
			fmt.Fprintf(&b, "  %22.2f", s.Base.cpuMS())
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nms of CPU a response, by part, opening included:\n")
	g.table(&b, func(s *Side) []profile.Part { return s.Parts })
	b.WriteString("\nand by what it was done for:\n")
	g.table(&b, func(s *Side) []profile.Part { return s.StageParts })
	return b.String()
}

// table has a line for each part and a column for each step, by the last one.
func (g *Growth) table(b *strings.Builder, parts func(*Side) []profile.Part) {
	fmt.Fprintf(b, "  %-26s", "others")
	for _, s := range g.Steps {
		fmt.Fprintf(b, " %9d", s.Others)
	}
	b.WriteByte('\n')
	for _, p := range parts(g.Steps[len(g.Steps)-1].Top) {
		fmt.Fprintf(b, "  %-26s", p.Name)
		for _, s := range g.Steps {
			share := 0.0
			for _, q := range parts(s.Top) {
				if q.Name == p.Name {
					share = q.Share
				}
			}
			fmt.Fprintf(b, " %9.3f", 1000*(s.Top.CPU+s.Top.OpenCPU)*share/float64(max(s.Top.Pages, 1)))
		}
		b.WriteByte('\n')
	}
}

func (s *Side) writtenByKept() float64 { return float64(s.Written) / float64(max(s.Kept, 1)) }

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }
