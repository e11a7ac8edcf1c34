package crawler

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"indexer/page"
)

// ErrAborted is what Run returns after Abort.
var ErrAborted = errors.New("the crawl was aborted; requests under way were given up and will be made again")

// Crawler works off a frontier. Make one with New for each call of Run.
//
// One goroutine, that of Run, decides what is done next (see scheduler.go). Each
// request and each store operation runs in a goroutine of its own, knows nothing of
// the Crawler's state, and ends by handing back what is to be done with its result;
// there are never more than Options.Concurrency of them, and Run waits for all.
type Crawler struct {
	opts     Options
	frontier Frontier
	fetcher  Fetcher
	recorder Recorder
	bare     map[string][]page.URL // seeds without a scheme, by host; gone when http was tried

	news    chan struct{}     // holds one if Wake was called
	results chan func() error // what ended; to be called with mu held
	workers sync.WaitGroup

	// mu guards all that follows. It is never held over anything that can block.
	mu       sync.Mutex
	work     context.Context // of requests and store operations; ended by Abort
	abort    context.CancelFunc
	asked    <-chan struct{} // closed when Run is asked to end
	started  time.Time
	rng      *rand.Rand
	running  int // goroutines
	settling bool
	settled  bool   // nothing has happened since Settle returned
	stopping string // why no new requests are made; "" while they are
	err      error  // the first that ended the crawl
	paused   string
	polledAt time.Time

	hosts    map[string]*host
	heap     hostHeap
	pushes   uint64
	tickets  uint64
	slots    map[string]*slot
	pruneAt  time.Time
	woken    map[string]bool // by Wake, since the scheduler looked
	wokenAll bool            // woken had no room for one
	waiting  waitingList
	parked   parkedHosts
	sweep    sweep
	crowded  bool // hosts wait for places, and there are none
	freed    bool // there is one since enlist

	unreached map[string]*Unreached // hosts that have not answered in this run

	meter meter
}

// New makes a Crawler. The recorder may be nil.
func New(o Options, frontier Frontier, fetcher Fetcher, recorder Recorder) *Crawler {
	o = o.WithDefaults()
	c := &Crawler{
		opts: o, frontier: frontier, fetcher: fetcher, recorder: recorder,
		bare:    make(map[string][]page.URL),
		news:    make(chan struct{}, 1),
		results: make(chan func() error, o.Concurrency),
		rng:     rand.New(rand.NewPCG(o.Seed, 1)),
		hosts:   make(map[string]*host),
		slots:   make(map[string]*slot),
		woken:   make(map[string]bool),

		unreached: make(map[string]*Unreached),

		meter: newMeter(),
	}
	for _, u := range o.Bare {
		if u.Scheme() == "https" {
			c.bare[HostOf(u)] = append(c.bare[HostOf(u)], u)
		}
	}
	c.waiting.init(o.Memory.Waiting)
	c.parked.init(o.Memory.Waiting)
	c.sweep.wanted = true
	return c
}

// Wake tells the crawler that a host (as HostOf writes it) has got new entries. It
// may be called from any goroutine, at any time, and does not block.
func (c *Crawler) Wake(host string) {
	c.mu.Lock()
	if len(c.woken) < c.opts.Memory.Waiting {
		c.woken[host] = true
	} else {
		c.wokenAll = true
	}
	c.settled = false
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// Abort ends the requests under way, and Run with ErrAborted. What was under way
// stays due. It does not wait.
func (c *Crawler) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop("aborted")
	c.fail(ErrAborted)
	if c.abort != nil {
		c.abort()
	}
}

// stop keeps new requests from being made.
func (c *Crawler) stop(why string) {
	if c.stopping == "" {
		c.stopping = why
	}
}

// fail ends the crawl with an error; the first counts, but an Abort comes first.
func (c *Crawler) fail(err error) {
	if c.err == nil || errors.Is(err, ErrAborted) {
		c.err = err
	}
	c.stop("failed")
}
