package observers

import (
	"indexer/page"
	"indexer/schema"
)

// extend is the walk of u, given what u's own fetch says and the walk of where
// it says it leads (nil if that is no page or redirect). It is nil if u is
// neither itself.
//
// That a walk is made of nothing but the next URL's stored walk is what makes
// the incremental result unique: the hop at place i of u's walk is the hop at
// place i-1 of the next one's, so by induction on i all places are right once
// every URL has looked at the present walk of its next, also in a loop.
func extend(u page.URL, s schema.URLState, ahead schema.StoredChain) schema.StoredChain {
	if s.Outcome != page.Page && s.Outcome != page.Redirect {
		return nil
	}
	self := schema.Hop{URL: u, Outcome: s.Outcome, NoIndex: s.NoIndex, Key: s.Key}
	walk := schema.StoredChain{self}
	switch {
	case s.Outcome == page.Redirect && s.Target == u:
		return append(walk, self)
	case s.Outcome == page.Redirect && len(ahead) == 0:
		return append(walk, schema.Hop{URL: s.Target})
	case s.Outcome == page.Page && (s.Target == "" || len(ahead) == 0 || ahead[0].NoIndex):
		return walk
	}
	for _, h := range ahead {
		walk = append(walk, h)
		if h.URL == u || len(walk) == schema.MaxChain {
			break
		}
	}
	return walk
}

// terminal is the page that a walk leads to (semantics.md section 4); false if
// there is none.
func terminal(w schema.StoredChain) (schema.Hop, bool) {
	if len(w) == 0 {
		return schema.Hop{}, false
	}
	end := w[len(w)-1]
	way := w[:len(w)-1]
	if loop := from(way, end.URL); loop != nil {
		if h, ok := firstPage(loop); ok {
			return h, true
		}
		return lastPage(way)
	}
	switch {
	case end.Outcome != page.Page && end.Outcome != page.Redirect:
		return lastPage(way)
	case len(w) == schema.MaxChain:
		return firstPage(w[:1])
	case end.Outcome == page.Page:
		return end, true
	}
	return schema.Hop{}, false // of a walk that is cut short by nothing above there is none
}

// from is the part of a way that begins with u, nil if u is not on it.
func from(way schema.StoredChain, u page.URL) schema.StoredChain {
	for i, h := range way {
		if h.URL == u {
			return way[i:]
		}
	}
	return nil
}

func firstPage(way schema.StoredChain) (schema.Hop, bool) {
	for _, h := range way {
		if h.Outcome == page.Page {
			return h, true
		}
	}
	return schema.Hop{}, false
}

func lastPage(way schema.StoredChain) (schema.Hop, bool) {
	for i := len(way) - 1; i >= 0; i-- {
		if way[i].Outcome == page.Page {
			return way[i], true
		}
	}
	return schema.Hop{}, false
}
