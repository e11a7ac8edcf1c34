package crawlbench

import (
	"github.com/webindexer/indexer/bench/measure"
)

// Side is one of the crawlers that are compared.
type Side struct {
	Name    string    `json:"name"`
	What    string    `json:"what"`
	Seconds []float64 `json:"seconds"`
	Rate    float64   `json:"pages_per_second"` // by the median round
	// CPU is the processor time of a page in ms, user and system, by the median
	// round; Server is that of the process that serves the site, on top of it.
	CPU    float64 `json:"cpu_ms_per_page"`
	Server float64 `json:"server_cpu_ms_per_page"`

	crawl       func(seed string) (*measure.Run, error)
	offline     bool // it needs no server
	last        *measure.Run
	cpu, server []float64
}

func (s *Side) add(r *measure.Run) {
	s.last = r
	s.Seconds = append(s.Seconds, r.Took.Seconds())
	s.cpu = append(s.cpu, measure.Milliseconds(r.CPU)/float64(r.Pages))
	s.server = append(s.server, measure.Milliseconds(r.Server)/float64(r.Pages))
}

func (s *Side) end(pages int) {
	s.Rate = float64(pages) / measure.Median(s.Seconds)
	s.CPU, s.Server = measure.Median(s.cpu), measure.Median(s.server)
}
