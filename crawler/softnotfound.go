package crawler

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// Some hosts answer 200 for paths that do not exist. Once a day the crawler requests
// two paths that cannot exist (the second only if the first returned a page). The
// shingles that the two answers have in common are how the host says "not found"; where
// they differ shows how much an answer varies. Another page counts as "not found" if it
// contains all of the common part and no more than the answers do; see shingles.go.
//
// Losing a page by mistake is worse than indexing an empty one, so:
//
//   - a page that merely resembles the answers is a page: it must contain all they have
//     in common, including the message;
//   - nothing is concluded before a page of the host has other content, or if a seed or
//     root page has the same content: such a host shows the same page everywhere (a
//     browser application, a login page);
//   - seeds and root pages never count as "not found";
//   - a page that was known before needs two strikes, like a 404.
//
// The first pages of a host are loaded before anything is known. Their shingles are
// kept until the answers arrive, and the pages that say the same, the suspects, until a
// conclusion can be drawn. Then the suspects are taken back: withdrawn from the index
// by a fetch with status 410, like a page that robots.txt disallows. It is recorded and
// loaded, so a replay gives the same index. Suspects survive a crash; withdrawing one
// twice changes nothing.
//
// Hosts that redirect paths that do not exist need none of this: a redirect is not a
// page.

// probeInterval is how often a host is probed.
const probeInterval = 24 * time.Hour

// maxEarly and maxSuspects bound what is remembered about pages that were loaded
// before the host was understood. Pages beyond that are found when they are visited
// again.
const (
	maxEarly    = 8
	maxSuspects = 64
)

// SoftNotFound is what is known about how a host answers for paths that do not exist.
type SoftNotFound struct {
	// Asked is when the host was last probed.
	Asked time.Time `json:"asked,omitzero"`
	// Answer is its answer; empty if it answers by status.
	Answer notFoundAnswer `json:"answer,omitzero"`
	// Unlike reports whether a page said something else, Alike whether a seed or root
	// page said the same.
	Unlike bool `json:"unlike,omitempty"`
	Alike  bool `json:"alike,omitempty"`
	// Early are pages that came before the answer; Suspects are pages that say the same
	// as the answer.
	Early    []earlyPage `json:"early,omitempty"`
	Suspects []page.URL  `json:"suspects,omitempty"`
}

// earlyPage is a page that was loaded before the host was understood.
type earlyPage struct {
	URL    page.URL `json:"url"`
	Says   shingles `json:"says"`
	Exempt bool     `json:"exempt,omitempty"` // it never counts as "not found"
	Known  bool     `json:"known,omitempty"`  // it was a page before
}

// usable reports whether conclusions can be drawn.
func (s *SoftNotFound) usable() bool { return s.Answer.known() && s.Unlike && !s.Alike }

type softNotFound struct {
	SoftNotFound
	first shingles // of the first of two probes, while the second one is made
	under int      // probes that are queued or under way
}

// softCheck is what a visit has to check; softSign is the result.
type softCheck struct {
	wanted bool
	answer notFoundAnswer
	usable bool
}

type softSign struct {
	early    earlyPage
	isPage   bool
	alike    bool // says the same as the answer
	compared bool // there was an answer
	notFound bool
}

// exempt reports whether nothing may be concluded about a page.
func exempt(j *Job) bool { return j.Depth == 0 || j.URL.Path() == "/" && j.URL.Query() == "" }

// learning reports whether the answer is not known yet.
func (s *softNotFound) learning() bool { return s.Asked.IsZero() || s.under > 0 }

func (s *softNotFound) ask(o *Sources, j *Job) softCheck {
	if o.NoProbe || j.Resource {
		return softCheck{}
	}
	return softCheck{wanted: s.learning() || s.Answer.known(), answer: s.Answer, usable: s.usable()}
}

func (c softCheck) look(j *Job, res *fetch.Result) softSign {
	if !c.wanted {
		return softSign{}
	}
	sign := softSign{early: earlyPage{URL: j.URL, Exempt: exempt(j), Known: wasPage(j)}}
	sign.early.Says, sign.isPage = shinglesOf(&res.Fetch)
	if sign.isPage && c.answer.known() {
		sign.compared, sign.alike = true, c.answer.matches(sign.early.Says)
		sign.notFound = sign.alike && c.usable && !sign.early.Exempt
	}
	return sign
}

// learn takes the result of a visit.
func (s *softNotFound) learn(sign softSign) {
	switch {
	case !sign.isPage || sign.notFound:
	case sign.compared:
		s.conclude(sign.early, sign.alike)
	case s.Answer.known(): // it came while the page was under way
		s.conclude(sign.early, s.Answer.matches(sign.early.Says))
	case s.learning() && len(s.Early) < maxEarly:
		s.Early = append(s.Early, sign.early)
	}
}

// conclude handles a loaded page that was compared with the answer.
func (s *softNotFound) conclude(p earlyPage, alike bool) {
	switch {
	case !alike:
		s.Unlike = true
	case p.Exempt:
		s.Alike = true
	case !p.Known && len(s.Suspects) < maxSuspects:
		s.Suspects = append(s.Suspects, p.URL)
	}
}

// probed takes the answer to a probe, and reports whether another probe is needed.
func (s *softNotFound) probed(says shingles, isPage bool) (again bool) {
	s.under--
	switch {
	case !isPage:
		s.Answer = notFoundAnswer{}
	case s.first == nil:
		s.first = says
		return true
	default:
		s.Answer = answerOf(s.first, says)
	}
	s.first = nil
	early := s.Early
	s.Early = nil
	if s.Answer.known() {
		for _, p := range early {
			s.conclude(p, s.Answer.matches(p.Says))
		}
	}
	return false
}

// giveUp notes that a probe that was queued is not made. Another one is due at once: pages that are
// loaded until then are remembered.
func (s *softNotFound) giveUp() {
	s.under--
	s.first, s.Asked = nil, time.Time{}
}

// stored is what to store. Probes that are queued or under way do not outlive this stay in memory,
// so the next stay makes them again, as after giveUp.
func (s *softNotFound) stored() SoftNotFound {
	state := s.SoftNotFound
	if s.under > 0 {
		state.Asked = time.Time{}
	}
	return state
}

// toTakeBack returns the suspects that may be taken back now.
func (h *host) toTakeBack() (list []page.URL) {
	if !h.soft.usable() {
		return nil
	}
	for _, u := range h.soft.Suspects {
		if _, underWay := h.jobs.inFlight[u]; !underWay { // its visit comes first
			list = append(list, u)
		}
	}
	return list
}

// takeBack withdraws suspects.
func (c *Crawler) takeBack(h *host, suspects []page.URL) {
	c.operate(h, "take back what says not found", func(ctx context.Context) (func(time.Time), error) {
		for _, u := range suspects {
			if err := c.loadVisit(ctx, c.opts.Revisits.takenBack(u, time.Now())); err != nil {
				return nil, err
			}
		}
		return func(time.Time) {
			h.soft.Suspects = slices.DeleteFunc(h.soft.Suspects, func(u page.URL) bool { return slices.Contains(suspects, u) })
			h.dirty, h.urgent = true, true
			c.meter.soft += int64(len(suspects))
		}, nil
	})
}

// probeIfDue queues a probe if it is time, before a page that it may help to judge. A
// host with a single page is not worth a probe.
func (c *Crawler) probeIfDue(h *host, now time.Time) {
	s := &h.soft
	due := s.Asked.IsZero() || now.Sub(s.Asked) >= probeInterval
	if c.opts.Sources.NoProbe || !due || s.under > 0 || len(h.jobs.ready) == 0 || h.jobs.ready[0].Resource {
		return
	}
	if first := s.Asked.IsZero() && len(s.Early) == 0; first || exempt(&h.jobs.ready[0]) && len(h.jobs.ready) == 1 {
		return
	}
	s.Asked, h.dirty = now, true
	c.queueProbe(h)
}

func (c *Crawler) queueProbe(h *host) {
	u, err := page.ParseURL(h.key + "/" + randomName(c.rng))
	if err != nil || !h.allowed(u) {
		return // without a probe nothing is concluded
	}
	h.soft.under++
	h.aux.queue = append([]auxiliary{{kind: auxProbe, url: u, allowed: true}}, h.aux.queue...)
}

// fetchProbe requests a probe.
func (c *Crawler) fetchProbe(h *host, s auxiliary) task {
	return func(ctx context.Context, memory *fetch.Reservation) (exchange, func(time.Time), error) {
		res, x := c.exchange(ctx, fetch.Request{URL: s.url, Cookies: fetch.NewCookies()}, memory)
		says, isPage := shinglesOf(&res.Fetch)
		return x, func(now time.Time) {
			h.aux.busy--
			if x.class != fetch.Canceled && h.soft.probed(says, isPage) {
				c.queueProbe(h)
			}
			h.dirty, h.urgent = true, h.urgent || len(h.soft.Suspects) > 0
			c.endPass(h, now)
		}, nil
	}
}

// probeNext reports whether a probe is next: pages wait for it.
func (h *host) probeNext() bool {
	return len(h.aux.queue) > 0 && h.aux.queue[0].kind == auxProbe
}

// randomName returns a file name that no site has.
func randomName(rng *rand.Rand) string {
	name := make([]byte, 24)
	for i := range name {
		name[i] = 'a' + byte(rng.IntN(26))
	}
	return string(name)
}
