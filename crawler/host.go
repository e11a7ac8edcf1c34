package crawler

import (
	"net/netip"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// host is the state of a host that is being worked on. It belongs to the scheduler:
// read and change it only with Crawler.mu held. Requests and store operations get
// copies of what they need.
//
// A host is in at most one of these places: the heap of hosts to look at (index), a
// slot's waiters (waitsFor), or nowhere; then something is under way that will push it
// onto the heap when it ends.
type host struct {
	key  string // as HostOf gives it
	part int    // the partition, in a crawl of several

	at    time.Time // when to look at it
	seq   uint64    // orders hosts with equal at
	index int       // in the heap; -1: not in it

	ticket            uint64
	waitsFor, granted *slot
	waitIndex         int // among the waiters of waitsFor

	loaded bool   // the stored state was read
	stored bool   // by an earlier run
	marked bool   // the store has the host
	dirty  bool   // store it before evicting it
	urgent bool   // store it now
	op     string // the store operation under way, "" if there is none
	// storing holds a value while the state is written. See store.
	storing chan struct{}

	policy       robots.Policy
	group        *robots.Group // of policy
	rulesMissing bool          // there was no room for the rules of policy; group is an older one
	rules        int64         // the room that it holds for them; see rulesroom.go
	rulesWanted  int64         // the room that it waits for
	robotsBusy   bool          // robots.txt is being fetched
	pace         pace
	addr         netip.Addr // of the server; zero: not known yet
	answered     time.Time  // last
	seeded       bool       // one of its seeds was due
	uses         uses
	plain        string // the http host that got the seeds instead; see tryHTTP

	held     string   // fingerprint of the rules that its URLs were checked against
	recheck  recheck  // the progress of that check
	sentinel page.URL // a refused URL that is due again; "" if none is

	jobs   jobBuffer
	aux    auxQueue
	claims claims
	soft   softNotFound
	icons  icons
	// detours counts redirects that did not lead back; negative: one did. See wall.go.
	detours int
	// robotsCookies are those of robots.txt's redirects.
	robotsCookies *fetch.Cookies

	turn      int // requests in this stay in memory
	idleSince time.Time

	state hostState
	why   string
}

// uses are the purposes of the requests to a host, as known from its jobs.
type uses uint8

const (
	usesUnknown uses = iota
	usesResources
	usesPages
)

// learnUses records the purposes of the jobs that were read.
func (h *host) learnUses(jobs []Job) {
	for i := range jobs {
		if !jobs[i].Resource {
			h.uses = usesPages
			return
		}
		if h.uses == usesUnknown {
			h.uses = usesResources
		}
	}
}

func newHost(key string) *host {
	return &host{key: key, index: -1, jobs: newJobBuffer(), storing: make(chan struct{}, 1)}
}

// needsRefill reports whether to ask the frontier for jobs.
func (h *host) needsRefill(now time.Time, low int) bool {
	b := &h.jobs
	if len(b.ready) > low {
		return false
	}
	if b.short && len(b.ready)+len(b.inFlight) == 0 {
		return true // jobs left out before may have room now
	}
	return !b.exhausted || !b.next.IsZero() && !b.next.After(now)
}

// hasWork reports whether there is something to request now, if politeness permits.
func (h *host) hasWork(now time.Time) bool {
	jobs, files := h.mayRequest(now)
	return jobs || files || h.aux.passDue(now)
}

// next is when a host without work has something to request again.
func (h *host) next() time.Time { return earlier(h.jobs.next, h.aux.passAt()) }

// resumes is when a host that waits may send a request again; zero if that is unknown. An idle
// host is looked at earlier, to evict it.
func (h *host) resumes() time.Time {
	switch {
	case h.state == stateIdle:
		return h.next()
	case h.index < 0:
		return time.Time{}
	}
	return h.at
}

// busy reports whether something of the host is under way.
func (h *host) busy() bool {
	return h.op != "" || h.robotsBusy || len(h.jobs.inFlight) > 0 || h.aux.busy > 0
}

// requests counts the requests under way.
func (h *host) requests() int {
	n := len(h.jobs.inFlight) + h.aux.busy
	if h.robotsBusy {
		n++
	}
	return n
}

// robotsURL is the URL of the host's robots.txt.
func (h *host) robotsURL() (page.URL, error) { return page.ParseURL(h.key + "/robots.txt") }
