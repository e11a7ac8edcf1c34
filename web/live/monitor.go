package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"indexer/repository"
)

// The times of a monitor.
const (
	every     = time.Second
	keep      = 10 * time.Minute // of points
	rateOver  = 10               // ticks over which rates are taken
	spanOver  = 60               // ticks over which durations of runs are taken
	slowEvery = 10 * time.Second
	slowShare = 20              // a slow reading takes at most a twentieth of the time
	slowTime  = 5 * time.Second // and at most so long
)

// point is a second of the graph.
type point struct {
	Seq int64 `json:"seq"`
	At  int64 `json:"t"` // milliseconds since 1970
	// How long the pages took, in ms, that were found in this second; absent if none.
	P50   *float64 `json:"p50,omitempty"`
	P95   *float64 `json:"p95,omitempty"`
	Found int64    `json:"n"`
	// Backlog is rows waiting or running.
	Backlog int `json:"backlog"`
}

// slow is what costs a scan.
type slow struct {
	read     time.Time // when
	space    repository.Space
	dead     map[string]int
	frontier *Frontier
	err      error // of the last reading; the rest is from before
}

// monitor takes the pulse and tells those who wait.
type monitor struct {
	source Source
	notes  func() []string
	log    *zap.Logger

	mu      sync.Mutex
	seq     int64
	points  []point
	pulses  []repository.Pulse // the last spanOver+1 of one opening, the newest last
	message []byte             // of the newest pulse
	fresh   chan struct{}      // closed and replaced with each pulse
	clients int

	reading sync.Mutex    // held by whoever reads slowly
	slow    slow          // guarded by mu
	another chan struct{} // the slow part is of a process that is gone

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

// tick takes the pulse, and makes what clients will be sent.
func (m *monitor) tick() {
	p := m.source.Pulse()
	m.mu.Lock()
	var since time.Time
	if n := len(m.pulses); n > 0 {
		since = m.pulses[n-1].Time
	} else {
		since = p.Time
	}
	m.mu.Unlock()
	l := m.source.FoundSince(since)
	pt := point{At: p.Time.UnixMilli(), Found: l.N}
	if l.N > 0 {
		p50, p95 := milliseconds(l.P50), milliseconds(l.P95)
		pt.P50, pt.P95 = &p50, &p95
	}
	if !isUnknown(p) {
		for _, o := range p.Observers {
			pt.Backlog += o.Backlog
		}
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.pulses); n > 0 && !m.pulses[n-1].Opened.Equal(p.Opened) {
		// Another process tells now, and its counters began anew: nothing can be compared.
		m.pulses = nil
		select {
		case m.another <- struct{}{}:
		default:
		}
	}
	m.seq++
	pt.Seq = m.seq
	m.points = append(m.points, pt)
	if most := int(keep / every); len(m.points) > most {
		m.points = m.points[len(m.points)-most:]
	}
	m.pulses = append(m.pulses, p)
	if len(m.pulses) > spanOver+1 {
		m.pulses = m.pulses[len(m.pulses)-spanOver-1:]
	}
	m.message = encodeView(m.viewLocked())
	close(m.fresh)
	m.fresh = make(chan struct{})
}

// milliseconds, to the microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// readSlowly keeps the slow part fresh while there are clients.
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
			m.slow.read = time.Time{} // for who is not here yet
		}
		m.mu.Unlock()
		rest := slowEvery
		if watched {
			began := time.Now()
			m.refresh(m.ctx, age)
			rest = max(rest, slowShare*time.Since(began))
		}
		timer.Reset(rest)
	}
}

// refresh reads the slow part again if it is older than asked for, and returns it. Of
// several callers one reads, the others wait for it. Without an answer in time it is
// what it was.
func (m *monitor) refresh(ctx context.Context, age time.Duration) slow {
	m.reading.Lock()
	defer m.reading.Unlock()
	m.mu.Lock()
	s := m.slow
	m.mu.Unlock()
	if !s.read.IsZero() && time.Since(s.read) < age {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, slowTime)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	if err := s.readFrom(ctx, m.source); err != nil && m.ctx.Err() == nil {
		m.log.Warn("the status lacks figures", zap.Error(err))
	}
	s.read = time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = s
	m.message = encodeView(m.viewLocked()) // or who follows next would be shown what was before
	return s
}

// readFrom reads each part; what cannot be read stays as it was.
func (s *slow) readFrom(ctx context.Context, source Source) error {
	space, err := source.Space()
	if err == nil {
		s.space = space
	}
	dead, deadErr := source.DeadCount(ctx)
	if deadErr == nil {
		s.dead = dead
	}
	frontier, frontierErr := source.Frontier(ctx, TopHosts)
	if frontierErr == nil {
		s.frontier = frontier
	}
	s.err = errors.Join(err, deadErr, frontierErr)
	return s.err
}

// after is the newest message, the points after one of them, and a channel that is
// closed when there is more.
func (m *monitor) after(seq int64) (message []byte, points []point, fresh <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := 0
	if n := len(m.points); n > 0 && seq <= m.seq { // a number of the future is of an earlier process
		from = int(min(max(seq-m.points[0].Seq+1, 0), int64(n)))
	}
	return m.message, append([]point(nil), m.points[from:]...), m.fresh
}

// view is what the page shows now.
func (m *monitor) view() view {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.viewLocked()
}

// enter counts a client, if there is room for it.
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
