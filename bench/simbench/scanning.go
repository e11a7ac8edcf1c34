package simbench

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/webindexer/indexer/bench/chart"
)

// Scanning is a simulation of workers that scan a table for notifications (paper, section
// 2.4). Times are in seconds.
//
// The table is a circle of chunks, each of which one call reads. Notifications arrive at
// random chunks. A worker reads a chunk, locks and handles the free notifications in it,
// and continues with the next chunk. If another worker has the chunk, the two have met.
// With the cure, the worker then continues at a random chunk.
type Scanning struct {
	Seed    uint64
	Chunks  int     // of the table
	Read    float64 // how long a worker takes to read a chunk
	Handle  float64 // and to handle a notification
	Load    float64 // notifications arrive at this part of the rate at which all workers can handle them
	Seconds float64 // what is simulated
	Workers int
	Cure    bool
}

// Scanned is what came out.
type Scanned struct {
	Workers int  `json:"workers"`
	Cure    bool `json:"cure"`
	// MeanFound and P95Found are seconds from the arrival of a notification until a worker
	// reads it.
	MeanFound float64 `json:"mean_found_seconds"`
	P95Found  float64 `json:"p95_found_seconds"`
	PerSecond float64 `json:"handled_per_second"`
	// Met is the part of the reads that met another worker.
	Met float64 `json:"met"`
	// Gap is the largest stretch between two neighbouring workers on average, as a multiple
	// of what it would be if they were spread evenly.
	Gap float64 `json:"gap"`

	arrived, found, handled int
}

// event is the end of what a worker does.
type event struct {
	at     float64
	worker int
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// scanning is a run of the simulation.
type scanning struct {
	Scanning
	random  *rand.Rand
	queue   events
	place   []int       // of each worker: the chunk that it reads or handles
	hands   []int       // of each worker: how many notifications it handles now; 0 while it reads
	waiting [][]float64 // in each chunk: when its free notifications arrived
	owner   []int       // of each chunk: the worker that handles notifications in it, plus 1
	next    float64     // when the next notification arrives
	waits   []float64   // of the notifications that were found
	reads   int
	met     int
	gaps    float64
	samples int
	result  Scanned
}

// Run simulates. The same values give the same result.
func (o Scanning) Run() Scanned {
	s := &scanning{
		Scanning: o, random: rand.New(rand.NewPCG(o.Seed, uint64(o.Workers))),
		place: make([]int, o.Workers), hands: make([]int, o.Workers), waiting: make([][]float64, o.Chunks), owner: make([]int, o.Chunks),
	}
	for w := range o.Workers {
		s.place[w] = s.random.IntN(o.Chunks)
		s.queue = append(s.queue, event{o.Read * s.random.Float64(), w})
	}
	heap.Init(&s.queue)
	s.next = s.interval()
	for e := s.queue[0]; e.at < o.Seconds; e = s.queue[0] {
		s.arrive(e.at)
		if s.reads%(10*o.Workers) == 0 {
			s.measureGap()
		}
		s.queue[0].at = e.at + s.step(e)
		heap.Fix(&s.queue, 0)
	}
	return s.summary()
}

// interval is the time between two arrivals.
func (s *scanning) interval() float64 {
	rate := s.Load * float64(s.Workers) / s.Handle
	return s.random.ExpFloat64() / rate
}

// arrive lets everything arrive that comes before a time.
func (s *scanning) arrive(now float64) {
	for ; s.next <= now; s.next += s.interval() {
		c := s.random.IntN(s.Chunks)
		s.waiting[c] = append(s.waiting[c], s.next)
		s.result.arrived++
	}
}

// step is what a worker does when it has read a chunk, or handled what was in it. It
// returns how long the next thing takes.
func (s *scanning) step(e event) float64 {
	w := e.worker
	if s.hands[w] > 0 {
		s.result.handled += s.hands[w]
		s.owner[s.place[w]], s.hands[w] = 0, 0
		return s.move(w, 1)
	}
	c := s.place[w]
	s.reads++
	switch found := s.waiting[c]; {
	case s.owner[c] != 0:
		s.met++
		if s.Cure {
			return s.move(w, s.random.IntN(s.Chunks))
		}
	case len(found) > 0:
		for _, at := range found {
			s.waits = append(s.waits, e.at-at)
		}
		s.result.found += len(found)
		s.waiting[c], s.hands[w], s.owner[c] = nil, len(found), w+1
		return float64(len(found)) * s.Handle
	}
	return s.move(w, 1)
}

// move moves a worker on, and returns how long it reads there.
func (s *scanning) move(w, by int) float64 {
	s.place[w] = (s.place[w] + by) % s.Chunks
	return s.Read
}

// measureGap looks how evenly the workers are spread.
func (s *scanning) measureGap() {
	sorted := slices.Sorted(slices.Values(s.place))
	most := sorted[0] + s.Chunks - sorted[len(sorted)-1]
	for i := 1; i < len(sorted); i++ {
		most = max(most, sorted[i]-sorted[i-1])
	}
	s.gaps += float64(most) * float64(s.Workers) / float64(s.Chunks)
	s.samples++
}

func (s *scanning) summary() Scanned {
	r := s.result
	r.Workers, r.Cure = s.Workers, s.Cure
	r.PerSecond, r.Met = float64(r.handled)/s.Seconds, float64(s.met)/float64(max(s.reads, 1))
	r.Gap = s.gaps / float64(max(s.samples, 1))
	if len(s.waits) == 0 {
		return r
	}
	slices.Sort(s.waits)
	for _, w := range s.waits {
		r.MeanFound += w / float64(len(s.waits))
	}
	r.P95Found = s.waits[len(s.waits)*95/100]
	return r
}

// ScanningResult is the simulation for several numbers of workers, without and with the cure.
type ScanningResult struct {
	Chunks       int       `json:"chunks"`
	ReadMS       float64   `json:"read_ms"`
	HandleMS     float64   `json:"handle_ms"`
	Load         float64   `json:"load"`
	SweepSeconds float64   `json:"sweep_seconds"` // of one worker that finds nothing
	Rows         []Scanned `json:"rows"`
}

// Platooning simulates a table of 64,000 rows.
func Platooning(seed uint64, quick bool) *ScanningResult {
	o := Scanning{Seed: seed, Chunks: 1000, Read: 0.005, Handle: 0.02, Load: 0.3}
	workers, work := []int{1, 2, 4, 8, 16, 32, 64}, 6400.0 // seconds, of all workers
	if quick {
		workers, work = []int{1, 8}, 200
	}
	res := &ScanningResult{Chunks: o.Chunks, ReadMS: 1000 * o.Read, HandleMS: 1000 * o.Handle, Load: o.Load, SweepSeconds: float64(o.Chunks) * o.Read}
	for _, o.Workers = range workers {
		o.Seconds = min(600, work/float64(o.Workers))
		for _, o.Cure = range []bool{false, true} {
			res.Rows = append(res.Rows, o.Run())
		}
	}
	return res
}

// Text is the result as people read it.
func (r *ScanningResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "scanning: %d chunks, %g ms to read one, %g ms to handle a notification, which arrive at %g of what all workers can handle\n", r.Chunks, r.ReadMS, r.HandleMS, r.Load)
	b.WriteString("                 seconds until found, mean and p95     reads that meet another    largest gap (× even)      handled per s\n")
	b.WriteString("workers          without            with the cure        without      with            without   with          without      with\n")
	for i := 0; i+1 < len(r.Rows); i += 2 {
		n, c := r.Rows[i], r.Rows[i+1]
		fmt.Fprintf(&b, "%7d %9.3f %8.3f %9.3f %8.3f %13.1f %% %7.1f %% %16.1f %6.1f %16.1f %9.1f\n", n.Workers, n.MeanFound, n.P95Found, c.MeanFound, c.P95Found,
			100*n.Met, 100*c.Met, n.Gap, c.Gap, n.PerSecond, c.PerSecond)
	}
	return b.String()
}

// SVG is the time until a notification is found, by workers.
func (r *ScanningResult) SVG() string {
	without, with := chart.Line{Name: "without the cure"}, chart.Line{Name: "with the cure"}
	ideal := chart.Line{Name: "evenly spread", Dashed: true}
	for _, row := range r.Rows {
		l := &without
		if row.Cure {
			l = &with
		} else {
			// A worker that is busy for a part of its time moves more slowly.
			ideal.Points = append(ideal.Points, [2]float64{float64(row.Workers), r.SweepSeconds / 2 / float64(row.Workers) / (1 - r.Load)})
		}
		l.Points = append(l.Points, [2]float64{float64(row.Workers), row.MeanFound})
	}
	c := chart.Chart{Title: "Time until a notification is found", X: "workers", Y: "seconds", Lines: []chart.Line{without, with, ideal}}
	return c.SVG()
}
