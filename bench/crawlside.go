package bench

import "time"

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

	crawl       func(seed string) (*run, error)
	last        *run
	cpu, server []float64
}

func (s *Side) add(r *run) {
	s.last = r
	s.Seconds = append(s.Seconds, r.took.Seconds())
	s.cpu = append(s.cpu, milliseconds(r.cpu)/float64(r.pages))
	s.server = append(s.server, milliseconds(r.server)/float64(r.pages))
}

func (s *Side) end(pages int) {
	s.Rate = float64(pages) / median(s.Seconds)
	s.CPU, s.Server = median(s.cpu), median(s.server)
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
