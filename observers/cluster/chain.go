package cluster

import (
	"slices"

	"github.com/webindexer/indexer/page"
)

// MaxHops is how many hops a URL is followed to its terminal (semantics.md section 4).
const MaxHops = 10

// MaxChain is the largest number of URLs in a chain: enough to know that there are more
// than MaxHops hops.
const MaxChain = MaxHops + 2

// Hop is one URL of a chain, with what decides how the chain goes on.
type Hop struct {
	URL     page.URL
	Outcome page.Outcome // Page or Redirect; Unfetched at the end of a chain, for anything else
	NoIndex bool
	Key     page.ContentKey // of a page
}

// Chain is the way from a URL to its terminal: the URL itself, the URL it points to, and so
// on. Its last URL is
//
//   - a page that points nowhere,
//   - the target of a redirect that is neither page nor redirect,
//   - the first URL that was on the chain before (a loop), or
//   - the MaxChain-th URL.
type Chain []Hop

// State is what the fetch of a URL says about its chain.
type State struct {
	Outcome page.Outcome
	NoIndex bool
	Target  page.URL        // the URL it points to, "" if it points nowhere
	Key     page.ContentKey // of a page
}

// Extend returns the chain of u. ahead is the chain of the URL that u points to; it is nil if
// there is no such URL, or it is neither page nor redirect. The chain of u is nil if u is
// neither page nor redirect.
//
// A chain is computed only from the next URL's stored chain. That makes the incremental
// result unique: hop i of u's chain is hop i-1 of the next URL's chain, so by induction
// on i all hops are right once the chain of every URL has been computed from the current
// chain of the next one. This also holds in loops.
func Extend(u page.URL, s State, ahead Chain) Chain {
	if s.Outcome != page.Page && s.Outcome != page.Redirect {
		return nil
	}
	self := Hop{URL: u, Outcome: s.Outcome, NoIndex: s.NoIndex, Key: s.Key}
	chain := Chain{self}
	switch {
	case s.Outcome == page.Redirect && s.Target == u:
		return append(chain, self)
	case s.Outcome == page.Redirect && len(ahead) == 0:
		return append(chain, Hop{URL: s.Target})
	case s.Outcome == page.Page && (len(ahead) == 0 || ahead[0].NoIndex):
		return chain
	}
	for _, h := range ahead {
		chain = append(chain, h)
		if h.URL == u || len(chain) == MaxChain {
			break
		}
	}
	return chain
}

// Terminal returns the page at which a chain ends (semantics.md section 4), or false if
// there is none.
func (c Chain) Terminal() (Hop, bool) {
	if len(c) == 0 {
		return Hop{}, false
	}
	end, before := c[len(c)-1], c[:len(c)-1]
	if loop := before.from(end.URL); loop != nil {
		if h, ok := loop.firstPage(); ok {
			return h, true
		}
		return before.lastPage()
	}
	switch {
	case end.Outcome != page.Page && end.Outcome != page.Redirect:
		return before.lastPage()
	case len(c) == MaxChain:
		return c[:1].firstPage()
	case end.Outcome == page.Page:
		return end, true
	}
	return Hop{}, false // a damaged chain, which ends with a redirect for none of the reasons above
}

// from returns the part of a chain that begins with u, or nil if u is not on it.
func (c Chain) from(u page.URL) Chain {
	i := slices.IndexFunc(c, func(h Hop) bool { return h.URL == u })
	if i < 0 {
		return nil
	}
	return c[i:]
}

func (c Chain) firstPage() (Hop, bool) {
	for _, h := range c {
		if h.Outcome == page.Page {
			return h, true
		}
	}
	return Hop{}, false
}

func (c Chain) lastPage() (Hop, bool) {
	for _, h := range slices.Backward(c) {
		if h.Outcome == page.Page {
			return h, true
		}
	}
	return Hop{}, false
}

// Membership says which cluster a URL belongs to, and as what kind of member.
type Membership struct {
	Key    page.ContentKey
	Member Member
}

// Membership returns the membership of u, the URL that the chain begins with, or false if
// u is in no cluster.
func (c Chain) Membership(u page.URL) (Membership, bool) {
	t, ok := c.Terminal()
	if !ok {
		return Membership{}, false
	}
	return Membership{t.Key, Member{URL: u, Eligible: t.URL == u && !t.NoIndex}}, true
}
