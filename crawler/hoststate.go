package crawler

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// hostStateVersion is the version of the encoding. A state of another version is
// ignored, and the crawler learns everything again.
const hostStateVersion = 1

// HostState is the state of a host across runs, as given to SaveHost.
type HostState struct {
	Version int `json:"version"`
	// Saved is when this was written.
	Saved time.Time `json:"saved"`
	// Robots is the policy that follows from robots.txt, including the file.
	Robots robots.Policy `json:"robots"`
	// Response is the smoothed response time, CrawlDelay the one from robots.txt.
	Response   time.Duration `json:"response_ns,omitempty"`
	CrawlDelay time.Duration `json:"crawl_delay_ns,omitempty"`
	// Failures counts failures in a row. The host is left alone until Until because of
	// Why; AskedUntil is until when it asked to be.
	Failures   int       `json:"failures,omitempty"`
	Until      time.Time `json:"until,omitzero"`
	Why        string    `json:"why,omitempty"`
	AskedUntil time.Time `json:"asked_until,omitzero"`
	// Address is the server last connected to.
	Address netip.Addr `json:"address,omitzero"`
	// Answered is when the host last answered a request, with any status.
	Answered time.Time `json:"answered,omitzero"`
	// SitemapsRead is when sitemaps and feeds were last read; Feeds are the known ones.
	SitemapsRead time.Time  `json:"sitemaps_read,omitzero"`
	Feeds        []page.URL `json:"feeds,omitempty"`
	// Held is the fingerprint of the rules that all URLs are checked against, Recheck
	// whether that check is unfinished, and RecheckAfter how far it has come. Sentinel is
	// the refused URL that is due again. See rules.go.
	Held         string   `json:"held,omitempty"`
	Recheck      bool     `json:"sifting,omitempty"`
	RecheckAfter page.URL `json:"sift_after,omitempty"`
	Sentinel     page.URL `json:"sentinel,omitempty"`
	// Claims counts how often the host was right, and wrong, about when its pages
	// changed.
	Claims claims `json:"lastmod,omitzero"`
	// Soft is what is known about how the host answers for paths that do not exist.
	Soft SoftNotFound `json:"soft_not_found,omitzero"`
	// Detours counts redirects with a cookie that did not lead back to their page;
	// negative: one did.
	Detours int `json:"detours,omitempty"`
	// Icons are those that its front page has named.
	Icons []page.URL `json:"icons,omitempty"`
}

// RobotsRule is the rule given to Frontier.Refuse when robots.txt disallows a URL; the
// reason given with it names the line.
const RobotsRule = "robots.disallow"

// Allowed reports whether robots.txt, as far as it is known, lets agent fetch u, and by
// which rule.
func (s *HostState) Allowed(agent string, u page.URL) (bool, robots.Rule) {
	return s.Robots.Group(agent).Allowed(u)
}

// LeftAlone returns until when, and why, no page of the host is requested; why is ""
// if nothing prevents it. If robots.txt cannot be reached, until is when it is tried
// again.
func (s *HostState) LeftAlone(now time.Time) (until time.Time, why string) {
	switch {
	case s.Until.After(now):
		return s.Until, s.Why
	case s.Robots.Verdict == robots.DisallowAll && s.Robots.Until.After(now):
		return s.Robots.Until, s.Robots.Why
	}
	return time.Time{}, ""
}

// DecodeHost reads what SaveHost was given. Nil is the state of a host that was never
// asked.
func DecodeHost(raw []byte) (HostState, error) {
	var s HostState
	if len(raw) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return HostState{}, fmt.Errorf("decode host state: %w", err)
	}
	if s.Version != hostStateVersion {
		return HostState{}, fmt.Errorf("decode host state: version %d, not %d", s.Version, hostStateVersion)
	}
	return s, nil
}

// encode returns the state of a host to store.
func (h *host) encode() []byte {
	raw, err := json.Marshal(HostState{
		Version: hostStateVersion, Saved: time.Now(), Robots: h.policy,
		Response: h.pace.response, CrawlDelay: h.pace.crawlDelay,
		Failures: h.pace.failures, Until: h.pace.until, Why: h.pace.why, AskedUntil: h.pace.asked,
		Address: h.addr, Answered: h.answered, SitemapsRead: h.aux.read, Feeds: h.aux.feeds, Soft: h.soft.stored(), Detours: h.detours,
		Held: h.held, Recheck: h.recheck.wanted, RecheckAfter: h.recheck.after, Sentinel: h.sentinel, Claims: h.claims, Icons: h.icons.named,
	})
	if err != nil {
		return nil // only for times beyond the year 9999: learn the host anew
	}
	return raw
}

// restore takes over the stored state. Failures of an earlier run (started is when this
// one began) do not count against the host: the user may have fixed their cause before
// starting again, and learns at once if not. What the host itself asked for stays in
// force.
func (h *host) restore(s HostState, group *robots.Group, started time.Time) {
	h.loaded = true
	h.policy, h.group = s.Robots, group
	h.pace = pace{
		response: s.Response, crawlDelay: s.CrawlDelay, failures: s.Failures,
		until: s.Until, asked: s.AskedUntil, why: s.Why,
	}
	if h.stored = !s.Saved.IsZero() && !s.Saved.After(started); h.stored {
		h.pace.until = s.AskedUntil
		if h.policy.Failures > 0 {
			h.policy.Until = time.Time{}
		}
		if h.policy.Verdict == robots.Follow { // robots.txt may redirect elsewhere by now, or no more
			h.policy.Verdict, h.policy.Next, h.policy.Hops = robots.Unknown, "", 0
		}
	}
	h.addr, h.answered = s.Address, s.Answered
	h.aux.read, h.aux.feeds, h.aux.stored = s.SitemapsRead, s.Feeds, len(s.Feeds)
	h.soft.SoftNotFound, h.detours = s.Soft, s.Detours
	h.held, h.recheck, h.sentinel = s.Held, recheck{s.Recheck, s.RecheckAfter}, s.Sentinel
	h.claims, h.icons.named = s.Claims, s.Icons
	h.holdRules() // the agent may be another one
}

// obeysRules reports whether there are rules to obey.
func (h *host) obeysRules() bool {
	return h.policy.Verdict == robots.Obey || h.policy.Verdict == robots.AllowAll
}

// rulesKnown reports whether there are rules to obey, they are in memory, and robots.txt need
// not be fetched again first.
func (h *host) rulesKnown(now time.Time) bool {
	return h.obeysRules() && !h.rulesMissing && !h.policy.Due(now)
}

// maxRobotsAge is how long a robots.txt is valid at most (RFC 9309 section 2.4), with a
// margin for rounding.
const maxRobotsAge = 25 * time.Hour

// mendTimes replaces stored times that are impossible. A clock that was wrong when they
// were stored, and has been set back since, must not keep a host from being asked for
// years. Within a run time is monotonic, and mendTimes changes nothing.
func (s *HostState) mendTimes(now, started time.Time, o *Politeness) {
	longest := now.Add(max(o.MaxBackoff+o.MaxBackoff/4, o.MaxRetryAfter))
	for _, until := range []*time.Time{&s.Until, &s.AskedUntil} {
		if until.After(longest) {
			*until = longest
		}
	}
	if s.Robots.Until.After(now.Add(maxRobotsAge)) {
		s.Robots.Until = now
	}
	if s.Saved.After(now) {
		s.Saved = started // by an earlier run
	}
	if s.Answered.After(now) {
		s.Answered = time.Time{} // it has not answered in this run
	}
	for _, at := range []*time.Time{&s.SitemapsRead, &s.Soft.Asked, &s.Robots.Since} {
		if at.After(now) {
			*at = now
		}
	}
}
