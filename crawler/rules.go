package crawler

import (
	"context"
	"time"

	"indexer/crawler/robots"
	"indexer/page"
)

// When the rules of a host have changed, all its URLs are held against the new ones:
// those that wait and are disallowed now are refused, those that were refused and are
// allowed now are queued again. A page that may no longer be fetched does not stay in
// the index until its next visit would be due, which may be in a month.
//
//  1. What counts as a change is the rules (robots.Group.Fingerprint), not the file.
//  2. That it is to be done is stored in one write with the rules: a crash leaves the
//     old rules, and robots.txt is asked for again, or the new ones, and it is done, or
//     gone on with, after the next start. Doing a part of it twice changes nothing.
//  3. It is done some URLs at a time, in store operations between which the host's
//     pages are fetched as usual.
//  4. It waits for requests under way of URLs that are disallowed by now: their visits
//     would queue them again.
//  5. Jobs in memory are not its affair. They are held against the rules when these
//     change (host.sift), and refused before it begins.
//
// A robots.txt that cannot be reached changes no rules: nothing is refused for good
// because a server is away.
//
// Rules are renewed when something of the host is due. So that this is so even where
// everything is refused, one refused URL of each host, its sentinel, is due again
// every day.

// sifting is such a pass over the URLs of a host.
type sifting struct {
	wanted bool
	after  page.URL // how far it has come
}

// siftBatch is how many URLs are read at a time.
const siftBatch = 256

// sentinelInterval is how long a host is left alone of which everything is refused.
const sentinelInterval = 24 * time.Hour

// holdRules begins a pass if the rules in force are not those that the URLs were
// held against.
func (h *host) holdRules() {
	if h.group == nil || !h.obeysRules() {
		return
	}
	if sum := h.group.Fingerprint(); sum != h.held {
		h.held, h.sifting, h.dirty = sum, sifting{wanted: true}, true
	}
}

// maySift tells whether the pass can go on.
func (h *host) maySift() bool {
	if !h.sifting.wanted || !h.obeysRules() {
		return false
	}
	for u := range h.jobs.inFlight {
		if !h.allowed(u) {
			return false
		}
	}
	return true
}

// siftKnown makes a part of the pass.
func (c *Crawler) siftKnown(h *host) {
	group, held, after, sentinel := h.group, h.held, h.sifting.after, h.sentinel
	c.operate(h, "hold what is known against robots.txt", func(ctx context.Context) (func(time.Time), error) {
		list, last, err := c.frontier.Known(ctx, h.key, after, siftBatch)
		if err != nil {
			return nil, err
		}
		disallowed, allowed := partition(list, group)
		sentinel, again, err := c.refuseJobs(ctx, disallowed, group, sentinel)
		if err != nil {
			return nil, err
		}
		if err := c.frontier.Readmit(ctx, allowed, "robots.txt allows it again"); err != nil {
			return nil, err
		}
		return func(time.Time) {
			c.meter.refused[RobotsRule] += int64(len(disallowed))
			h.setSentinel(sentinel, again)
			if len(allowed) > 0 {
				h.jobs.wake()
			}
			if h.held == held { // or else it begins again
				h.sifting = sifting{wanted: last != "", after: last}
			}
		}, nil
	})
}

// partition picks what has to be refused, and what need not be any more.
func partition(list []Known, group *robots.Group) (disallowed []Job, allowed []page.URL) {
	for _, k := range list {
		switch ok, _ := group.Allowed(k.Job.URL); {
		case ok && k.Refused:
			allowed = append(allowed, k.Job.URL)
		case !ok && !k.Refused:
			disallowed = append(disallowed, k.Job)
		}
	}
	return disallowed, allowed
}

// refuse tells the frontier of the jobs that robots.txt disallows.
func (c *Crawler) refuse(h *host) {
	jobs, group, sentinel := h.jobs.refused, h.group, h.sentinel
	c.operate(h, "refuse jobs", func(ctx context.Context) (func(time.Time), error) {
		sentinel, again, err := c.refuseJobs(ctx, jobs, group, sentinel)
		if err != nil {
			return nil, err
		}
		return func(time.Time) {
			h.jobs.refused = nil
			h.jobs.exhausted = h.jobs.exhausted && !h.jobs.limited // their places are free
			h.setSentinel(sentinel, again)
			c.meter.refused[RobotsRule] += int64(len(jobs))
		}, nil
	})
}

// refuseJobs refuses jobs, and finds a sentinel among them if there is none. A
// sentinel that is not stored, because of a crash, is replaced by another; it is no
// longer one when it is refused the next time.
func (c *Crawler) refuseJobs(ctx context.Context, jobs []Job, group *robots.Group, sentinel page.URL) (_ page.URL, again time.Time, err error) {
	for _, j := range jobs {
		_, rule := group.Allowed(j.URL)
		r := Refusal{Job: j, At: after(time.Now(), j.Last), Rule: RobotsRule, Why: rule.String(), Gone: j.Visits > 0 && !j.Withdrawn}
		if sentinel == "" || sentinel == j.URL {
			r.Again = r.At.Add(sentinelInterval)
			sentinel, again = j.URL, r.Again
		}
		if err := c.refuseJob(ctx, r); err != nil {
			return sentinel, again, err
		}
	}
	return sentinel, again, nil
}

// setSentinel notes the sentinel, and when it is due if that has just been decided.
func (h *host) setSentinel(u page.URL, again time.Time) {
	h.sentinel, h.dirty = u, true
	h.jobs.next = earlier(h.jobs.next, again)
}

// refuseJob refuses one. A page that was fetched before leaves the index, by a
// withdrawal that the recorder is told of first.
func (c *Crawler) refuseJob(ctx context.Context, r Refusal) error {
	if r.Gone {
		if err := c.record(ctx, r.Job.URL, withdrawal(r.Job.URL, r.At, r.Rule)); err != nil {
			return err
		}
	}
	return c.frontier.Refuse(ctx, r)
}

// after is now, or a moment after the last visit where the clock was set back: of two
// fetches the newer one decides, and the refusal has to.
func after(now, last time.Time) time.Time {
	if least := last.Add(2 * time.Millisecond); now.Before(least) { // last is in whole ones
		now = least
	}
	return now.Round(0).UTC()
}
