package crawler

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"indexer/crawler/robots"
	"indexer/page"
)

// hostStateVersion is that of the encoding. A state of another version is not read:
// it is all found out again.
const hostStateVersion = 1

// HostState is what is known of a host across runs, as SaveHost is given it.
type HostState struct {
	Version int `json:"version"`
	// Saved is when this was written.
	Saved time.Time `json:"saved"`
	// Robots is what robots.txt comes to, the file included.
	Robots robots.Policy `json:"robots"`
	// Response is the smoothed response time, CrawlDelay what robots.txt asks for.
	Response   time.Duration `json:"response_ns,omitempty"`
	CrawlDelay time.Duration `json:"crawl_delay_ns,omitempty"`
	// Failures in a row, until when the host is left alone, why, and until when it asked
	// to be.
	Failures   int       `json:"failures,omitempty"`
	Until      time.Time `json:"until,omitzero"`
	Why        string    `json:"why,omitempty"`
	AskedUntil time.Time `json:"asked_until,omitzero"`
	// Address is of the server last connected to.
	Address netip.Addr `json:"address,omitzero"`
	// Answered is when the host last answered a request, whatever it said.
	Answered time.Time `json:"answered,omitzero"`
	// SitemapsRead is when sitemaps and feeds were last read; Feeds are those known.
	SitemapsRead time.Time  `json:"sitemaps_read,omitzero"`
	Feeds        []page.URL `json:"feeds,omitempty"`
	// Held is the fingerprint of the rules that all URLs are held against, Sifting
	// whether that is not done yet, and SiftAfter how far it has come; Sentinel is the
	// refused URL that is due again. See rules.go.
	Held      string   `json:"held,omitempty"`
	Sifting   bool     `json:"sifting,omitempty"`
	SiftAfter page.URL `json:"sift_after,omitempty"`
	Sentinel  page.URL `json:"sentinel,omitempty"`
	// Claims is how often the host was right, and wrong, of when its pages changed.
	Claims claims `json:"lastmod,omitzero"`
	// Soft is what is known of how the host answers for what does not exist.
	Soft SoftNotFound `json:"soft_not_found,omitzero"`
	// Detours counts redirects with a cookie that did not lead back to their page;
	// negative: one did.
	Detours int `json:"detours,omitempty"`
}

// RobotsRule is the rule of which Frontier.Refuse is told when robots.txt disallows a
// URL; what it is told as the reason names the line.
const RobotsRule = "robots.disallow"

// Allowed tells whether the robots.txt as it is known lets agent fetch u, and by which
// rule.
func (s *HostState) Allowed(agent string, u page.URL) (bool, robots.Rule) {
	return s.Robots.Group(agent).Allowed(u)
}

// LeftAlone tells until when, and why, no page of the host is asked for; "" if there is
// no such reason. Where robots.txt cannot be reached, that is when it is tried again.
func (s *HostState) LeftAlone(now time.Time) (until time.Time, why string) {
	switch {
	case s.Until.After(now):
		return s.Until, s.Why
	case s.Robots.Verdict == robots.DisallowAll && s.Robots.Until.After(now):
		return s.Robots.Until, s.Robots.Why
	}
	return time.Time{}, ""
}

// DecodeHost reads what SaveHost was given. Nothing (nil) is the state of a host that
// was never asked.
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

// encode gives the state of a host to store.
func (h *host) encode() []byte {
	raw, err := json.Marshal(HostState{
		Version: hostStateVersion, Saved: time.Now(), Robots: h.policy,
		Response: h.pace.response, CrawlDelay: h.pace.crawlDelay,
		Failures: h.pace.failures, Until: h.pace.until, Why: h.pace.why, AskedUntil: h.pace.asked,
		Address: h.addr, Answered: h.answered, SitemapsRead: h.aux.read, Feeds: h.aux.feeds, Soft: h.soft.SoftNotFound, Detours: h.detours,
		Held: h.held, Sifting: h.sifting.wanted, SiftAfter: h.sifting.after, Sentinel: h.sentinel, Claims: h.claims,
	})
	if err != nil {
		return nil // times beyond the year 9999 only: the host is asked anew
	}
	return raw
}

// restore takes what was stored. What comes from an earlier run (started is when this
// one began) is not held against the host: whoever starts the crawler again may have
// mended what was wrong, and is told at once if not. What the host itself asked for
// stays in force.
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
	}
	h.addr, h.answered = s.Address, s.Answered
	h.aux.read, h.aux.feeds = s.SitemapsRead, s.Feeds
	h.soft.SoftNotFound, h.detours = s.Soft, s.Detours
	h.held, h.sifting, h.sentinel = s.Held, sifting{s.Sifting, s.SiftAfter}, s.Sentinel
	h.claims = s.Claims
	h.holdRules() // of another agent, say
}

// obeysRules tells whether there are rules to go by.
func (h *host) obeysRules() bool {
	return h.policy.Verdict == robots.Obey || h.policy.Verdict == robots.AllowAll
}
