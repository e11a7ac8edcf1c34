package crawler

import (
	"net/netip"
	"time"

	"indexer/crawler/fetch"
	"indexer/crawler/robots"
	"indexer/page"
)

// host is what is known of a host that is being worked on. It belongs to the
// scheduler: it is read and changed with Crawler.mu held only. Requests and store
// operations are given copies of what they need.
//
// A host is in at most one of these places: the heap of those to look at (index),
// a slot's waiters (parked), or nowhere, and then something is under way that will
// push it into the heap when it ends.
type host struct {
	key string // as HostOf gives it

	at    time.Time // when to look at it
	seq   uint64    // orders hosts with the same at
	index int       // in the heap; -1: it is not there

	ticket          uint64
	parked, granted *slot

	loaded bool   // what was stored is known
	stored bool   // it was known in an earlier run
	marked bool   // the store knows of it
	dirty  bool   // it is to be stored before it is forgotten
	urgent bool   // it is to be stored now
	op     string // the store operation under way, "" if there is none

	policy     robots.Policy
	group      *robots.Group // of policy
	robotsBusy bool          // robots.txt is being fetched
	pace       pace
	addr       netip.Addr // of the server; zero: not known yet
	answered   time.Time  // last
	seeded     bool       // a seed of it was due
	plain      string     // the host with http that the seeds were given to; see tryHTTP

	held     string   // fingerprint of the rules that its URLs are held against
	sifting  sifting  // whether that is under way
	sentinel page.URL // a refused URL that is due again; "" if none is

	jobs   jobBuffer
	aux    auxQueue
	claims claims
	soft   softNotFound
	// detours counts redirects that did not lead back; negative: one did. See wall.go.
	detours int
	// robotsCookies are those of the redirects of robots.txt.
	robotsCookies *fetch.Cookies

	turn      int // requests in this stay in memory
	idleSince time.Time

	state hostState
	why   string
}

func newHost(key string) *host {
	return &host{key: key, index: -1, jobs: newJobBuffer()}
}

// needsRefill tells whether the frontier has to be asked for jobs.
func (h *host) needsRefill(now time.Time, low int) bool {
	b := &h.jobs
	if len(b.ready) > low {
		return false
	}
	if b.short && len(b.ready)+len(b.inFlight) == 0 {
		return true // what was left out may have its place now
	}
	return !b.exhausted || !b.next.IsZero() && !b.next.After(now)
}

// hasWork tells whether there is something to request now, if politeness permits.
func (h *host) hasWork(now time.Time) bool {
	return len(h.jobs.ready) > 0 || len(h.aux.queue) > 0 || h.aux.passDue(now)
}

// next is when there is something to request again of a host that has no work.
func (h *host) next() time.Time { return earlier(h.jobs.next, h.aux.passAt()) }

// busy tells whether something of the host is under way.
func (h *host) busy() bool {
	return h.op != "" || h.robotsBusy || len(h.jobs.inFlight) > 0 || h.aux.busy > 0
}

// requests counts those under way.
func (h *host) requests() int {
	n := len(h.jobs.inFlight) + h.aux.busy
	if h.robotsBusy {
		n++
	}
	return n
}

// robotsURL is where the host's robots.txt is.
func (h *host) robotsURL() (page.URL, error) { return page.ParseURL(h.key + "/robots.txt") }
