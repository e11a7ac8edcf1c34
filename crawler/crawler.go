package crawler

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// ErrAborted is what Run returns after Abort.
var ErrAborted = errors.New("the crawl was aborted; requests under way were given up and will be made again")

// Crawler works through a frontier. Make one with New for each call of Run.
//
// One goroutine, that of Run, decides what is done next (see scheduler.go). Each
// request and each store operation runs in a goroutine of its own, does not touch the
// Crawler's state except to store that of its host (store, keepFeeds), and ends by
// returning a function that applies its result. Run waits for all of them.
// Options.Concurrency bounds those that work for a host.
type Crawler struct {
	opts      Options
	frontier  Frontier
	fetcher   Fetcher
	recorder  Recorder
	bodies    *fetch.Budget
	compiling sync.Mutex         // held while a large robots.txt is compiled; see rulesroom.go
	bare      map[string][]Found // seeds without a scheme, with http, by their https host; removed once added

	news      chan struct{}     // holds one value if Wake was called
	results   chan func() error // of finished goroutines; call with mu held
	fullSpeed fullSpeed
	workers   sync.WaitGroup

	// mu guards the fields below. It is never held over anything that can block.
	mu        sync.Mutex
	work      context.Context // for requests and store operations; Abort cancels it
	abort     context.CancelFunc
	asked     context.Context // Run's: when it ends, Run should
	started   time.Time
	rng       *rand.Rand
	running   int // goroutines
	quiescing bool
	quiescent bool // nothing has happened since Quiesce returned
	// cancelQuiesce ends the call of Quiesce that began last.
	cancelQuiesce context.CancelFunc
	stopping      string // why no new requests start; "" while they do
	err           error  // the first error that ended the crawl
	paused        string
	polledAt      time.Time

	hosts    map[string]*host
	heap     queue[*host] // by at
	pushes   uint64
	tickets  uint64
	slots    map[string]*slot
	pruneAt  time.Time
	woken    map[string]bool // by Wake, since the scheduler last looked
	wokenAll bool            // woken was full
	waiting  waitingList
	rules    rulesRoom
	parked   parkedHosts
	sweep    sweep
	crowded  bool // hosts wait for places, and none is free
	freed    bool // a place became free since enlist

	unreached map[string]*Unreached // hosts that have not answered in this run

	shared *shared // nil: all hosts belong to this crawler

	meter meter
}

// New makes a Crawler. The recorder may be nil.
func New(o Options, frontier Frontier, fetcher Fetcher, recorder Recorder) *Crawler {
	o = o.WithDefaults()
	c := &Crawler{
		opts: o, frontier: frontier, fetcher: fetcher, recorder: recorder,
		bodies:  fetch.NewBudget(o.Memory.Bodies),
		bare:    make(map[string][]Found),
		news:    make(chan struct{}, 1),
		results: make(chan func() error, o.Concurrency),
		rng:     rand.New(rand.NewPCG(o.Seed, 1)),
		hosts:   make(map[string]*host),
		heap:    queue[*host]{less: sooner, place: func(h *host) *int { return &h.index }},
		slots:   make(map[string]*slot),
		woken:   make(map[string]bool),

		cancelQuiesce: func() {},

		unreached: make(map[string]*Unreached),

		meter: newMeter(),
	}
	for _, u := range o.Bare {
		rest, isHTTPS := strings.CutPrefix(string(u), "https:")
		if plain, err := page.ParseURL("http:" + rest); err == nil && isHTTPS {
			c.bare[HostOf(u)] = append(c.bare[HostOf(u)], Found{URL: plain})
		}
	}
	c.rules.size = o.Memory.Rules
	c.waiting.init(o.Memory.Waiting)
	c.parked.init(o.Memory.Waiting)
	if o.Share != nil {
		c.shared = &shared{Share: o.Share}
	}
	c.sweep.wanted = c.shared == nil // or else when partitions are gained
	return c
}

// Wake tells the crawler that a host (as HostOf writes it) has new entries. Any
// goroutine may call it at any time; it does not block.
func (c *Crawler) Wake(host string) {
	c.mu.Lock()
	if len(c.woken) < c.opts.Memory.Waiting {
		c.woken[host] = true
	} else {
		c.wokenAll = true
	}
	c.happened()
	c.mu.Unlock()
}

// Abort cancels the requests under way and makes Run return ErrAborted. Their URLs stay
// due. Abort does not wait.
func (c *Crawler) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop("aborted")
	c.fail(ErrAborted)
	if c.abort != nil {
		c.abort()
	}
}

// Failed reports whether an error has ended the crawl. If so, it may not have loaded all that it
// has recorded.
func (c *Crawler) Failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// stop prevents new requests, and ends the wait for observers, which may be long.
func (c *Crawler) stop(why string) {
	if c.stopping == "" {
		c.stopping = why
	}
	c.cancelQuiesce()
}

// fail ends the crawl with an error. The first error counts, but an Abort takes
// precedence.
func (c *Crawler) fail(err error) {
	if c.err == nil || errors.Is(err, ErrAborted) {
		c.err = err
	}
	c.stop("failed")
}
