package crawler

import (
	"context"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
)

// A host asks for no job and no file before its robots.txt was consulted about it. One decision
// can take milliseconds (robots.MaxSearch), and a hundred may be needed at once. So they are
// made in the place of a store operation, without mu.
//
// A robots.txt that cannot be reached disallows everything for now, but refuses nothing; the
// same holds for one that has to be fetched again first.

// mustFilter reports whether jobs or files wait for a decision.
func (h *host) mustFilter(now time.Time) bool {
	jobs, files := len(h.jobs.ready) > 0 && !h.jobs.filtered, len(h.aux.queue) > 0 && !h.aux.queue[0].allowed
	return (jobs || files) && h.group != nil && h.rulesKnown(now)
}

// mayRequest reports whether there are jobs, and whether there are files, that may be requested.
// They count as well if robots.txt has to be fetched first.
func (h *host) mayRequest(now time.Time) (jobs, files bool) {
	known := h.rulesKnown(now)
	jobs = len(h.jobs.ready) > 0 && (h.jobs.filtered || !known)
	files = len(h.aux.queue) > 0 && (h.aux.queue[0].allowed || !known)
	return jobs, files
}

// decideAgain makes the host decide again, because its rules have changed.
func (h *host) decideAgain() {
	h.jobs.filtered = false
	for i := range h.aux.queue {
		h.aux.queue[i].allowed = false
	}
}

// filter decides about the jobs and files of a host.
func (c *Crawler) filter(h *host) {
	group, allowed := h.group, make(map[page.URL]bool)
	for i := range h.jobs.ready {
		allowed[h.jobs.ready[i].URL] = h.jobs.filtered
	}
	for i := range h.aux.queue {
		allowed[h.aux.queue[i].url] = h.aux.queue[i].allowed
	}
	c.operate(h, "ask robots.txt about URLs", func(ctx context.Context) (func(time.Time), error) {
		for u, known := range allowed {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !known {
				allowed[u], _ = group.Allowed(u)
			}
		}
		return func(now time.Time) {
			if h.group != group {
				return // decide again
			}
			h.jobs.filter(allowed)
			h.filterAux(allowed)
			c.endPass(h, now) // what was dropped may have been the last of it
		}, nil
	})
}

// filter separates the jobs that robots.txt disallows. It is told about all of them.
func (b *jobBuffer) filter(allowed map[page.URL]bool) {
	b.filtered = true
	b.ready = slices.DeleteFunc(b.ready, func(j Job) bool {
		if !allowed[j.URL] {
			b.refused = append(b.refused, j)
		}
		return !allowed[j.URL]
	})
}

// filterAux drops the files that are not allowed. Those that were queued meanwhile wait for the
// next decision.
func (h *host) filterAux(allowed map[page.URL]bool) {
	h.aux.queue = slices.DeleteFunc(h.aux.queue, func(s auxiliary) bool {
		ok, decided := allowed[s.url]
		if decided && !ok && s.kind == auxProbe {
			h.soft.giveUp()
		}
		return decided && !ok
	})
	for i := range h.aux.queue {
		s := &h.aux.queue[i]
		s.allowed = s.allowed || allowed[s.url]
	}
}

// allowed checks a URL against the host's rules.
func (h *host) allowed(u page.URL) bool {
	ok, _ := h.group.Allowed(u)
	return ok
}
