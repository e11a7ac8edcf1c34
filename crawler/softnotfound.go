package crawler

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"indexer/crawler/fetch"
	"indexer/page"
)

// Some hosts answer 200 for what does not exist. Once a day two paths are requested
// that cannot exist (the second one if a page came for the first). What the two answers
// have in common, their saying, is how the host says "not found"; what they have not
// in common is how much of an answer varies. Another page is taken for "not found" if
// it says all of that and no more than the answers do; see saying.go.
//
// A page lost by mistake is worse than an empty one indexed, so:
//
//   - a page that merely resembles the answers is a page: it must have all they have in
//     common, the message among it;
//   - nothing is concluded before a page of the host says something else, nor where a
//     seed or root page says the same: such a host shows everything alike (a program
//     for browsers, a page to sign in);
//   - seeds and root pages are never taken for it;
//   - a page that was known before needs two strikes, like a 404.
//
// The first pages of a host are loaded before anything is known. What they say is
// kept until the answers are there, and those that say the same, the suspects, until a
// conclusion can be drawn. Then they are taken back: withdrawn from the index by a
// fetch that says so (status 410), like a page that robots.txt disallows. It is
// recorded and loaded, so a replay gives the same index. Suspects stay suspects over a
// crash; withdrawing one twice changes nothing.
//
// Hosts that redirect what does not exist need no such thing: a redirect is one.

// probeInterval is how often a host is probed.
const probeInterval = 24 * time.Hour

// maxEarly and maxSuspects bound what is remembered of pages that were loaded before
// the host was understood. Later ones are found when they are visited again.
const (
	maxEarly    = 8
	maxSuspects = 64
)

// SoftNotFound is what is known of how a host answers for what does not exist.
type SoftNotFound struct {
	// Asked is when the host was last asked for it.
	Asked time.Time `json:"asked,omitzero"`
	// Answer is what it says then; empty if it says it by its status.
	Answer notFoundAnswer `json:"answer,omitzero"`
	// Unlike is whether a page said something else, Alike whether a seed or root page
	// said the same.
	Unlike bool `json:"unlike,omitempty"`
	Alike  bool `json:"alike,omitempty"`
	// Early are pages that came before the answer, Suspects those of them, and later ones,
	// that say the same.
	Early    []earlyPage `json:"early,omitempty"`
	Suspects []page.URL  `json:"suspects,omitempty"`
}

// earlyPage is a page that was loaded before the host was understood.
type earlyPage struct {
	URL    page.URL `json:"url"`
	Says   saying   `json:"says"`
	Exempt bool     `json:"exempt,omitempty"` // never taken for "not found"
	Known  bool     `json:"known,omitempty"`  // it was a page before
}

// usable tells whether conclusions can be drawn.
func (s *SoftNotFound) usable() bool { return s.Answer.known() && s.Unlike && !s.Alike }

type softNotFound struct {
	SoftNotFound
	first saying // of the first of two probes, while the second one is made
	under int    // probes that are queued or under way
}

// softCheck is what a visit has to find out; softSign what it found.
type softCheck struct {
	wanted bool
	answer notFoundAnswer
	usable bool
}

type softSign struct {
	early    earlyPage
	isPage   bool
	alike    bool // says the same as the answer
	compared bool // there was one
	notFound bool
}

// exempt tells of which pages nothing is concluded.
func exempt(j *Job) bool { return j.Depth == 0 || j.URL.Path() == "/" && j.URL.Query() == "" }

// learning tells whether the answer is not known yet.
func (s *softNotFound) learning() bool { return s.Asked.IsZero() || s.under > 0 }

func (s *softNotFound) ask(o *Sources) softCheck {
	if o.NoProbe {
		return softCheck{}
	}
	return softCheck{wanted: s.learning() || s.Answer.known(), answer: s.Answer, usable: s.usable()}
}

func (c softCheck) look(j *Job, res *fetch.Result) softSign {
	if !c.wanted {
		return softSign{}
	}
	sign := softSign{early: earlyPage{URL: j.URL, Exempt: exempt(j), Known: wasPage(j)}}
	sign.early.Says, sign.isPage = sayingOf(&res.Fetch)
	if sign.isPage && c.answer.known() {
		sign.compared, sign.alike = true, c.answer.matches(sign.early.Says)
		sign.notFound = sign.alike && c.usable && !sign.early.Exempt
	}
	return sign
}

// learn takes what a visit found.
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

// conclude takes a page that was loaded, of which is known whether it says the same
// as the answer.
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

// probed takes the answer to a probe, and tells whether another one is needed.
func (s *softNotFound) probed(says saying, isPage bool) (again bool) {
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

// toTakeBack are the suspects that may be taken back now.
func (h *host) toTakeBack() (list []page.URL) {
	if !h.soft.usable() {
		return nil
	}
	for _, u := range h.soft.Suspects {
		if !h.jobs.inFlight[u] { // a visit under way comes first
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

// probeIfDue queues a probe if it is time, before a page of which it may tell something.
// A host of which one page is visited is not worth one.
func (c *Crawler) probeIfDue(h *host, now time.Time) {
	s := &h.soft
	due := s.Asked.IsZero() || now.Sub(s.Asked) >= probeInterval
	if c.opts.Sources.NoProbe || !due || s.under > 0 || len(h.jobs.ready) == 0 {
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
		return // of a host, and allowed: all that is found out is that nothing is known
	}
	h.soft.under++
	h.aux.queue = append([]auxiliary{{kind: auxProbe, url: u}}, h.aux.queue...)
}

// probeNext tells whether a probe is what the host is asked next: pages wait for it.
func (h *host) probeNext() bool {
	return len(h.aux.queue) > 0 && h.aux.queue[0].kind == auxProbe
}

// randomName is a file name that nobody else thinks of.
func randomName(rng *rand.Rand) string {
	name := make([]byte, 24)
	for i := range name {
		name[i] = 'a' + byte(rng.IntN(26))
	}
	return string(name)
}
