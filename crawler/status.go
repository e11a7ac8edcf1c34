package crawler

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// EndedIdle is Status.Ended of a crawl that had nothing more to do.
	EndedIdle = "nothing is due"
	// EndedByContext is Status.Ended of a crawl that was stopped through its context.
	EndedByContext = "stopped"
)

// Status is what the crawler is doing, and why it is not doing more.
type Status struct {
	Started time.Time `json:"started"`
	// Paused says why no requests start for the moment; Ended why Run has ended, or is
	// about to.
	Paused   string `json:"paused,omitempty"`
	Ended    string `json:"ended,omitempty"`
	Settling bool   `json:"settling,omitempty"`

	// Pages counts jobs done; Requests also counts robots.txt files, sitemaps and
	// probes.
	Pages      int64   `json:"pages"`
	Requests   int64   `json:"requests"`
	Bytes      int64   `json:"bytes"`
	PerSecond  float64 `json:"pages_per_second"` // of the last 9 s; of the whole crawl when it has ended
	Sitemaps   int64   `json:"sitemaps"`         // and feeds
	SoftGone   int64   `json:"soft_not_found"`
	InProgress int     `json:"in_progress"` // requests and store operations
	// Interrupted counts store operations that failed while the crawl had to pause.
	Interrupted int64 `json:"interrupted,omitempty"`

	// Failures counts exchanges without a usable response by fetch.Class, Statuses the
	// others by status, Refused jobs by rule.
	Failures map[string]int64 `json:"failures,omitempty"`
	Statuses map[int]int64    `json:"statuses,omitempty"`
	Refused  map[string]int64 `json:"refused,omitempty"`

	// Unreached lists hosts that have not answered a single request, by name, at most
	// 20; UnreachedTotal is how many there are.
	Unreached      []Unreached `json:"unreached,omitempty"`
	UnreachedTotal int         `json:"unreached_total,omitempty"`

	// Partitions is how many of the partitions of all hosts this crawler has, in a crawl
	// of several.
	Partitions int `json:"partitions,omitempty"`

	Hosts HostCounts `json:"hosts"`
	// Next is when the next request may start, if all hosts wait; zero if that is
	// unknown, or if no host waits.
	Next time.Time `json:"next,omitzero"`
	// Busiest are the hosts that best explain the state: longest waits first.
	Busiest []HostStatus `json:"busiest,omitempty"`
}

// HostCounts are numbers of hosts by what they wait for. All but Sleeping (parked
// hosts) and Waiting are in memory.
type HostCounts struct {
	Active     int `json:"active"`     // a request is under way
	Politeness int `json:"politeness"` // wait for the delay, or for hosts at their address or domain
	Robots     int `json:"robots"`     // cannot be reached for robots.txt
	Backoff    int `json:"backoff"`    // are left alone because they failed or asked for it
	Store      int `json:"store"`      // wait for the store
	Idle       int `json:"idle"`       // have nothing due
	Waiting    int `json:"waiting"`    // wait for a place in memory
	Sleeping   int `json:"sleeping"`   // have something due later
}

// HostStatus is the state of one host in memory.
type HostStatus struct {
	Host     string        `json:"host"`
	State    string        `json:"state"`
	Why      string        `json:"why,omitempty"` // in words
	Until    time.Time     `json:"until,omitzero"`
	Delay    time.Duration `json:"delay_ns"`
	Response time.Duration `json:"response_ns"`
	Buffered int           `json:"buffered"`
	Requests int           `json:"requests"` // since it came into memory
	Failures int           `json:"failures"` // in a row
}

// Status lists up to n hosts. Any goroutine may call it at any time.
func (c *Crawler) Status(n int) Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	m := &c.meter
	s := Status{
		Started: c.started, Paused: c.paused, Ended: c.stopping, Settling: c.quiescing,
		Pages: m.pages, Requests: m.requests, Bytes: m.bytes, PerSecond: m.rate(now, c.started),
		Sitemaps: m.aux, SoftGone: m.soft, InProgress: c.running, Interrupted: m.interrupted,
		Failures: maps.Clone(m.failures), Statuses: maps.Clone(m.statuses), Refused: maps.Clone(m.refused),
		Hosts: HostCounts{Waiting: c.waiting.len(), Sleeping: c.parked.heap.Len()},
	}
	s.Partitions = c.shared.held()
	s.Unreached, s.UnreachedTotal = c.listUnreached()
	all := make([]*host, 0, len(c.hosts))
	for _, h := range c.hosts {
		s.Hosts.count(h.state)
		if h.state != stateIdle {
			all = append(all, h)
		}
		if at := h.resumes(); at.After(now) {
			s.Next = earlier(s.Next, at)
		}
	}
	if at, ok := c.parked.first(); ok && at.After(now) {
		s.Next = earlier(s.Next, at)
	}
	slices.SortFunc(all, func(a, b *host) int {
		return cmp.Or(cmp.Compare(b.state, a.state), b.at.Compare(a.at), cmp.Compare(a.key, b.key))
	})
	for _, h := range all[:min(n, len(all))] {
		s.Busiest = append(s.Busiest, c.statusOf(h))
	}
	return s
}

// LeftAlone lists up to n hosts that have something due but are left alone, because they
// failed or asked for it, or answered the request for robots.txt with an error. Hosts that
// answered no request are in [Status.Unreached] instead.
func (c *Crawler) LeftAlone(n int) []HostStatus {
	list := c.Status(n).Busiest
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(list, func(h HostStatus) bool {
		return h.State != stateBackoff.String() && (h.State != stateRobots.String() || c.unreached[h.Host] != nil)
	})
}

func (n *HostCounts) count(s hostState) {
	*[...]*int{
		stateStore: &n.Store, stateActive: &n.Active, statePoliteness: &n.Politeness,
		stateRobots: &n.Robots, stateBackoff: &n.Backoff, stateIdle: &n.Idle,
	}[s]++
}

func (c *Crawler) statusOf(h *host) HostStatus {
	s := HostStatus{
		Host: h.key, State: h.state.String(), Why: h.why,
		Delay: h.pace.delay(&c.opts.Politeness), Response: h.pace.response,
		Buffered: len(h.jobs.ready), Requests: h.turn, Failures: h.pace.failures,
	}
	switch h.state {
	case statePoliteness, stateRobots, stateBackoff:
		if h.index >= 0 {
			s.Until = h.at
		}
	}
	if h.state == statePoliteness {
		s.Why = turnText(h.why, h.key, s.Delay)
	}
	return s
}

// turnText says why a host waits for a slot, by the key of the slot.
func turnText(slot, host string, delay time.Duration) string {
	kind, name, _ := strings.Cut(slot, " ")
	switch {
	case slot == largeKey:
		return "large sitemaps take turns"
	case kind == "address":
		return "hosts at the address " + name + " take turns"
	case kind == "domain":
		return "hosts of the domain " + name + " take turns"
	case name != host: // its robots.txt redirects there
		return "requests to " + name + " take turns"
	case delay == 0:
		return "requests are under way"
	}
	return delay.Round(time.Millisecond).String() + " between two requests"
}
