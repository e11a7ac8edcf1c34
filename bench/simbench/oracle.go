package simbench

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/webindexer/indexer/bench/chart"
)

// Oracle is a simulation of workers that take timestamps from one oracle (paper, section
// 2.3). Times are in seconds.
//
// In each worker, transactions ask for timestamps at random moments. With batching, a worker
// has one pending request, which carries everything that was waiting when it was sent.
// Without batching, each transaction sends a request. Requests travel, queue at the oracle,
// which answers one after the other, and travel back.
type Oracle struct {
	Seed     uint64
	Workers  int
	Rate     float64 // timestamps a second that each worker asks for
	Travel   float64 // of a message, one way
	Request  float64 // what a request takes in the oracle
	Each     float64 // and each timestamp in it
	Seconds  float64 // what is simulated
	Batching bool
}

// Timestamps is what came out.
type Timestamps struct {
	Workers   int     `json:"workers"`
	Batching  bool    `json:"batching"`
	Asked     float64 `json:"asked_per_second"`
	PerSecond float64 `json:"answered_per_second"`
	Requests  float64 `json:"requests_per_second"`
	MeanMS    float64 `json:"mean_ms"`
	P99MS     float64 `json:"p99_ms"`
	Busy      float64 `json:"oracle_busy"` // part of the time

	answered, asked int
}

// asking is a worker.
type asking struct {
	random *rand.Rand
	next   float64   // when the next transaction asks
	queue  []float64 // when those asked that the next request carries
}

// oracleRun is a run of the simulation.
type oracleRun struct {
	Oracle
	workers  []asking
	order    events  // by when each worker sends its next request
	free     float64 // when the oracle has answered everything that it has
	busy     float64
	requests int
	waits    []float64
	result   Timestamps
}

// Run simulates. The same values give the same result.
func (o Oracle) Run() Timestamps {
	s := &oracleRun{Oracle: o, workers: make([]asking, o.Workers)}
	for w := range s.workers {
		a := &s.workers[w]
		a.random = rand.New(rand.NewPCG(o.Seed, uint64(w)))
		a.next = a.random.ExpFloat64() / o.Rate
		s.order = append(s.order, event{a.next, w})
	}
	heap.Init(&s.order)
	for e := s.order[0]; e.at < o.Seconds; e = s.order[0] {
		s.order[0].at = s.request(e.at, &s.workers[e.worker])
		heap.Fix(&s.order, 0)
	}
	return s.summary()
}

// request sends one request of a worker, and returns when it sends the next one. The oracle
// serves requests in the order in which they were sent, since all travel for the same time.
func (s *oracleRun) request(sent float64, a *asking) (next float64) {
	a.queue = a.queue[:0]
	for a.next <= sent {
		a.queue = append(a.queue, a.next)
		a.next += a.random.ExpFloat64() / s.Rate
		s.result.asked++
		if !s.Batching {
			break
		}
	}
	s.requests++
	took := s.Request + s.Each*float64(len(a.queue))
	s.free = max(s.free, sent+s.Travel) + took
	s.busy += took
	back := s.free + s.Travel
	for _, at := range a.queue {
		s.waits = append(s.waits, back-at)
		if s.free <= s.Seconds {
			s.result.answered++
		}
	}
	if s.Batching {
		return max(back, a.next)
	}
	return a.next
}

func (s *oracleRun) summary() Timestamps {
	r := s.result
	r.Workers, r.Batching = s.Workers, s.Batching
	r.Asked, r.PerSecond, r.Requests = float64(s.Workers)*s.Rate, float64(r.answered)/s.Seconds, float64(s.requests)/s.Seconds
	r.Busy = min(s.busy/s.Seconds, 1)
	if len(s.waits) == 0 {
		return r
	}
	slices.Sort(s.waits)
	for _, w := range s.waits {
		r.MeanMS += 1000 * w / float64(len(s.waits))
	}
	r.P99MS = 1000 * s.waits[len(s.waits)*99/100]
	return r
}

// OracleResult is the simulation for several numbers of workers, without and with batching.
type OracleResult struct {
	Rate      float64      `json:"rate_per_worker"`
	TravelMS  float64      `json:"travel_ms"`
	RequestUS float64      `json:"request_us"`
	EachNS    float64      `json:"each_ns"`
	Rows      []Timestamps `json:"rows"`
}

// Batching simulates workers that each ask for 2,000 timestamps a second: a thousand of them
// need the paper's two million.
func Batching(seed uint64, quick bool) *OracleResult {
	o := Oracle{Seed: seed, Rate: 2000, Travel: 0.000_25, Request: 0.000_005, Each: 0.000_000_05, Seconds: 0.5}
	workers := []int{1, 10, 50, 100, 200, 500, 1000, 2000}
	if quick {
		o.Seconds, workers = 0.1, []int{1, 100}
	}
	res := &OracleResult{Rate: o.Rate, TravelMS: 1000 * o.Travel, RequestUS: 1e6 * o.Request, EachNS: 1e9 * o.Each}
	for _, o.Workers = range workers {
		for _, o.Batching = range []bool{false, true} {
			res.Rows = append(res.Rows, o.Run())
		}
	}
	return res
}

// Text is the result as people read it.
func (r *OracleResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "oracle: each worker asks for %g timestamps a second; %g ms one way, %g µs a request and %g ns a timestamp in the oracle\n", r.Rate, r.TravelMS, r.RequestUS, r.EachNS)
	b.WriteString("                            a request each                                           one pending request per worker\n")
	b.WriteString("workers   asked/s   answered/s  requests/s  oracle busy  mean ms    p99 ms   answered/s  requests/s  oracle busy  mean ms    p99 ms\n")
	for i := 0; i+1 < len(r.Rows); i += 2 {
		n, c := r.Rows[i], r.Rows[i+1]
		fmt.Fprintf(&b, "%7d %9.0f %s %s\n", n.Workers, n.Asked, n.text(), c.text())
	}
	return b.String()
}

func (t *Timestamps) text() string {
	return fmt.Sprintf("%12.0f %11.0f %10.0f %% %8.2f %9.2f", t.PerSecond, t.Requests, 100*t.Busy, t.MeanMS, t.P99MS)
}

// SVG is the timestamps that are answered, by workers.
func (r *OracleResult) SVG() string {
	without, with, asked := chart.Line{Name: "a request for each transaction"}, chart.Line{Name: "one pending request per worker"}, chart.Line{Name: "asked for", Dashed: true}
	for _, row := range r.Rows {
		p := [2]float64{float64(row.Workers), row.PerSecond}
		if row.Batching {
			with.Points = append(with.Points, p)
			asked.Points = append(asked.Points, [2]float64{p[0], row.Asked})
		} else {
			without.Points = append(without.Points, p)
		}
	}
	c := chart.Chart{Title: "Timestamps from one oracle", X: "workers", Y: "timestamps a second", Lines: []chart.Line{without, with, asked}}
	return c.SVG()
}
