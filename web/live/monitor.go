package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
)

// Timing of the monitor.
const (
	every     = time.Second
	keep      = 10 * time.Minute // age of the oldest point
	rateOver  = 10               // ticks over which rates are taken
	spanOver  = 60               // ticks over which durations of runs are taken
	slowEvery = 10 * time.Second
	slowShare = 20              // slow readings take at most a twentieth of the time
	slowTime  = 5 * time.Second // limit of a slow reading
)

// point is one second of the graph.
type point struct {
	Seq int64 `json:"seq"`
	At  int64 `json:"t"` // milliseconds since 1970
	// Latency in ms of the pages that became searchable in this second; absent if none.
	P50   *float64 `json:"p50,omitempty"`
	P95   *float64 `json:"p95,omitempty"`
	Found int64    `json:"n"`
	// Backlog counts the rows that wait or run.
	Backlog int `json:"backlog"`
}

// slow holds the figures that cost a scan.
type slow struct {
	read     time.Time     // time of the last reading
	rest     time.Duration // from then to the next one, at least
	space    repository.Space
	dead     map[string]int
	waiting  map[string]int // rows that wait for observers of other processes
	frontier *Frontier
	err      error // of the last reading; what failed keeps its old value
}

// monitor takes a sample once a second and wakes the clients.
type monitor struct {
	source Source
	notes  func() []string
	log    *zap.Logger

	mu      sync.Mutex
	seq     int64
	points  []point
	samples []repository.Sample // the last spanOver+1 of one opening of the store, newest last
	message []byte              // of the newest sample
	fresh   chan struct{}       // closed and replaced with each sample
	clients int

	reading sync.Mutex    // held during a slow reading
	slow    slow          // guarded by mu
	another chan struct{} // slow is from a process that has ended

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
}

func startMonitor(source Source, opts Options) *monitor {
	m := &monitor{source: source, notes: opts.Notes, log: opts.Log, fresh: make(chan struct{}), another: make(chan struct{}, 1)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.tick()
	m.work.Go(m.run)
	m.work.Go(m.readSlowly)
	return m
}

func (m *monitor) stop() {
	m.cancel()
	m.work.Wait()
}

func (m *monitor) run() {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.tick()
		case <-m.ctx.Done():
			return
		}
	}
}

// tick takes a sample and encodes the message to the clients.
func (m *monitor) tick() {
	p := m.source.Sample()
	pt := newPoint(p.Time, m.source.FoundSince(m.lastTime(p.Time)))
	m.mu.Lock()
	defer m.mu.Unlock()
	if !isUnknown(p) {
		pt.Backlog = backlog(m.counted(p))
	}
	if n := len(m.samples); n > 0 && !m.samples[n-1].Opened.Equal(p.Opened) {
		// Samples now come from another process, whose counters started at zero.
		m.samples = nil
		select {
		case m.another <- struct{}{}:
		default:
		}
	}
	m.seq++
	pt.Seq = m.seq
	m.points = newest(append(m.points, pt), int(keep/every))
	m.samples = newest(append(m.samples, p), spanOver+1)
	m.message = encodeView(m.viewLocked())
	close(m.fresh)
	m.fresh = make(chan struct{})
}

// lastTime returns the time of the newest sample, or first if there is none yet.
func (m *monitor) lastTime(first time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.samples); n > 0 {
		return m.samples[n-1].Time
	}
	return first
}

// newPoint returns the point of the pages that became searchable until a time.
func newPoint(at time.Time, l observers.Latency) point {
	pt := point{At: at.UnixMilli(), Found: l.N}
	if l.N > 0 {
		p50, p95 := milliseconds(l.P50), milliseconds(l.P95)
		pt.P50, pt.P95 = &p50, &p95
	}
	return pt
}

// newest returns the last entries of a list, at most most.
func newest[T any](list []T, most int) []T { return list[max(len(list)-most, 0):] }

// counted returns a sample with the rows that wait for observers of other processes, if these run
// them. The caller holds mu.
func (m *monitor) counted(p repository.Sample) repository.Sample {
	return withWaiting(p, m.slow.waiting)
}

func withWaiting(p repository.Sample, waiting map[string]int) repository.Sample {
	if !p.Elsewhere {
		return p
	}
	p.Observers = slices.Clone(p.Observers)
	for i := range p.Observers {
		p.Observers[i].Backlog = waiting[p.Observers[i].Observer]
	}
	return p
}

func backlog(p repository.Sample) (n int) {
	for _, o := range p.Observers {
		n += o.Backlog
	}
	return n
}

// milliseconds has microsecond precision.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// readSlowly keeps the slow figures fresh while there are clients.
func (m *monitor) readSlowly() {
	timer := time.NewTimer(slowEvery)
	defer timer.Stop()
	for {
		age := slowEvery / 2
		select {
		case <-timer.C:
		case <-m.another:
			age = 0
		case <-m.ctx.Done():
			return
		}
		m.mu.Lock()
		watched := m.clients > 0
		if age == 0 {
			m.slow.read = time.Time{} // so that the next client gets new figures
		}
		m.mu.Unlock()
		rest := slowEvery
		if watched {
			rest = max(rest, m.refresh(age).rest)
		}
		timer.Reset(rest)
	}
}

// refresh returns the slow figures, and first reads them again if they are older than
// age, and as old as slowShare demands. One caller reads at a time; the others wait for its
// result, so a client that leaves does not end the reading. Figures that cannot be read
// within slowTime keep their old values.
func (m *monitor) refresh(age time.Duration) slow {
	m.reading.Lock()
	defer m.reading.Unlock()
	m.mu.Lock()
	s := m.slow
	m.mu.Unlock()
	if !s.read.IsZero() && time.Since(s.read) < max(age, s.rest) {
		return s
	}
	ctx, cancel := context.WithTimeout(m.ctx, slowTime)
	defer cancel()
	began := time.Now()
	if err := s.readFrom(ctx, m.source); err != nil && m.ctx.Err() == nil {
		m.log.Warn("cannot read all figures of the status", zap.Error(err))
	}
	s.read = time.Now()
	s.rest = slowShare * s.read.Sub(began)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = s
	m.message = encodeView(m.viewLocked()) // so that the next client sees the new figures
	return s
}

// readFrom reads each figure; one that cannot be read keeps its old value.
func (s *slow) readFrom(ctx context.Context, source Source) error {
	space, err := source.Space()
	if err == nil {
		s.space = space
	}
	dead, deadErr := source.DeadCount(ctx)
	if deadErr == nil {
		s.dead = dead
	}
	var waitingErr error
	if source.Sample().Elsewhere {
		var waiting map[string]int
		if waiting, waitingErr = source.Waiting(ctx); waitingErr == nil {
			s.waiting = waiting
		}
	}
	frontier, frontierErr := source.Frontier(ctx, TopHosts)
	if frontierErr == nil {
		s.frontier = frontier
	}
	s.err = errors.Join(err, deadErr, waitingErr, frontierErr)
	return s.err
}

// after returns the newest message, the points after number seq, and a channel that is
// closed when there is more.
func (m *monitor) after(seq int64) (message []byte, points []point, fresh <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := 0
	if n := len(m.points); n > 0 && seq <= m.seq { // a number beyond ours is from an earlier process
		from = int(min(max(seq-m.points[0].Seq+1, 0), int64(n)))
	}
	return m.message, slices.Clone(m.points[from:]), m.fresh
}

// view returns the current view.
func (m *monitor) view() view {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.viewLocked()
}

// enter admits a client unless there are already most.
func (m *monitor) enter(most int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clients >= most {
		return false
	}
	m.clients++
	return true
}

func (m *monitor) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients--
}
