package crawler

import (
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
)

// jobBuffer holds the few jobs of a host that were read from the frontier.
//
// The frontier lists a job as due until its visit is committed. So fill skips jobs that
// are in memory already, and those that finished during the read (which may or may not
// have seen their end): a job must not be done twice.
type jobBuffer struct {
	ready    []Job
	refused  []Job             // by robots.txt; the frontier does not know yet
	inFlight map[page.URL]bool // true for those that were never visited before

	reading      bool
	finished     []page.URL // since reading began
	finishedNext time.Time  // when the first of them is due again
	exhausted    bool       // the frontier had no more when last asked
	again        bool       // a Wake came while reading
	next         time.Time  // when the frontier has something again; zero: not known
	firstEnded   int        // how many of finished were first visits
	limited      bool       // the host has a limit of pages
	short        bool       // the limit left jobs out
	filtered     bool       // ready was checked against the current robots.txt
}

func newJobBuffer() jobBuffer {
	return jobBuffer{inFlight: make(map[page.URL]bool)}
}

// wake notes that the frontier has new entries.
func (b *jobBuffer) wake() {
	b.exhausted = false
	b.again = b.reading
}

// fill adds the jobs that were read; asked is how many were requested. Room is how many
// URLs may be visited for the first time, including those in memory; negative for any
// number. The queue may have changed since the last read: what it lists now need not be
// in memory, so both together can be too many.
func (b *jobBuffer) fill(read []Job, asked int, next, now time.Time, room int) {
	b.limited, b.short = room >= 0, false
	for i := range b.ready {
		if b.ready[i].Visits == 0 {
			room--
		}
	}
	room -= b.firstEnded
	known := make(map[page.URL]bool, len(b.ready)+len(b.inFlight)+len(b.finished))
	for _, list := range [][]Job{b.ready, b.refused} {
		for i := range list {
			known[list[i].URL] = true
		}
	}
	for u, first := range b.inFlight {
		if first {
			room--
		}
		known[u] = true
	}
	for _, u := range b.finished {
		known[u] = true
	}
	for _, j := range read {
		if !known[j.URL] {
			if j.Visits == 0 {
				if room--; b.limited && room < 0 {
					b.short = true
					continue
				}
			}
			known[j.URL] = true
			b.ready = append(b.ready, j)
			b.filtered = false
		}
	}
	b.exhausted = len(read) < asked && !b.again
	if len(read) == 0 && !next.IsZero() && !next.After(now) {
		next = now.Add(time.Second) // due, but not returned: avoid asking in a loop
	}
	b.next = earlier(next, b.finishedNext)
	b.reading, b.again, b.finished, b.finishedNext, b.firstEnded = false, false, nil, time.Time{}, 0
}

// earlier returns the earlier of two times; the zero time means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// take puts the first job in flight.
func (b *jobBuffer) take() {
	j := b.ready[0]
	b.ready = slices.Delete(b.ready, 0, 1)
	b.inFlight[j.URL] = j.Visits == 0
}

// done notes that a job was visited and is due again at next, or never.
func (b *jobBuffer) done(u page.URL, next time.Time) {
	first := b.inFlight[u]
	delete(b.inFlight, u)
	if b.reading {
		if first {
			b.firstEnded++
		}
		b.finished = append(b.finished, u)
		b.finishedNext = earlier(b.finishedNext, next)
	}
	b.next = earlier(b.next, next)
}

// giveUp notes that a job was not visited: it is still due.
func (b *jobBuffer) giveUp(u page.URL) {
	b.done(u, time.Time{})
	b.exhausted = false
}
