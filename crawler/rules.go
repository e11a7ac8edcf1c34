package crawler

import (
	"context"
	"time"

	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// When the rules of a host have changed, all its URLs are checked against the new ones.
// URLs that wait and are now disallowed are refused; URLs that were refused and are now
// allowed are queued again. So a page that may no longer be fetched leaves the index at
// once, and not at its next visit, which may be in a month.
//
//   1. A change is a change of the rules (robots.Group.Fingerprint), not of the file.
//   2. One write stores the new rules together with a mark that the check is pending. A
//      crash leaves the old rules, and robots.txt is fetched again; or the new ones, and
//      the next run begins or continues the check. Repeating a part of the check changes
//      nothing.
//   3. The check takes some URLs at a time, in store operations, while the host's pages
//      are fetched as usual in between.
//   4. It waits for requests under way for URLs that are now disallowed: their visits
//      would queue them again.
//   5. It does not handle jobs in memory. They are checked when the rules change
//      (Crawler.filter), and refused before the check begins.
//
// A robots.txt that cannot be reached changes no rules: an unreachable server causes no
// permanent refusal.
//
// Rules are renewed when something of the host is due. To make that happen even where
// everything is refused, one refused URL of each host, its sentinel, is due again every
// day.

// recheck is the progress of a check of a host's URLs.
type recheck struct {
	wanted bool
	after  page.URL // how far it has come
}

// recheckBatch is how many URLs are read at a time.
const recheckBatch = 256

// sentinelInterval is how long a host is left alone if everything on it is refused.
const sentinelInterval = 24 * time.Hour

// holdRules begins a check if the rules in force are not those that the URLs were
// checked against.
func (h *host) holdRules() {
	if h.group == nil || !h.obeysRules() {
		return
	}
	if sum := h.group.Fingerprint(); sum != h.held {
		h.held, h.recheck, h.dirty = sum, recheck{wanted: true}, true
	}
}

// mayRecheck reports whether the check can continue.
func (h *host) mayRecheck() bool {
	if !h.recheck.wanted || !h.obeysRules() {
		return false
	}
	for u := range h.jobs.inFlight {
		if !h.allowed(u) {
			return false
		}
	}
	return true
}

// recheckKnown does a part of the check.
func (c *Crawler) recheckKnown(h *host) {
	group, held, after, sentinel := h.group, h.held, h.recheck.after, h.sentinel
	c.operate(h, "check known URLs against robots.txt", func(ctx context.Context) (func(time.Time), error) {
		list, last, err := c.frontier.Known(ctx, h.key, after, recheckBatch)
		if err != nil {
			return nil, err
		}
		disallowed, allowed := separate(list, group)
		sentinel, again, err := c.refuseJobs(ctx, disallowed, group, sentinel)
		if err != nil {
			return nil, err
		}
		if err := c.frontier.Readmit(ctx, allowed, "robots.txt allows it again"); err != nil {
			return nil, err
		}
		return func(time.Time) {
			c.meter.disallowed(len(disallowed))
			h.setSentinel(sentinel, again)
			if len(allowed) > 0 {
				h.jobs.wake()
			}
			if h.held == held { // otherwise it starts over
				h.recheck = recheck{wanted: last != "", after: last}
			}
		}, nil
	})
}

// separate selects the jobs to refuse and the URLs to admit again.
func separate(list []Known, group *robots.Group) (disallowed []Job, allowed []page.URL) {
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

// refuse tells the frontier which jobs robots.txt disallows.
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
			c.meter.disallowed(len(jobs))
		}, nil
	})
}

// refuseJobs refuses jobs, and makes one of them the sentinel if there is none. If a
// crash loses the stored sentinel, another one replaces it; the old one stops being a
// sentinel when it is refused the next time.
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

// setSentinel notes the sentinel, and when it is due if that was just decided.
func (h *host) setSentinel(u page.URL, again time.Time) {
	h.sentinel, h.dirty = u, true
	h.jobs.next = earlier(h.jobs.next, again)
}

// refuseJob refuses one job. A page that was fetched before leaves the index through a
// withdrawal, which is recorded first.
func (c *Crawler) refuseJob(ctx context.Context, r Refusal) error {
	if r.Gone {
		w := withdrawal(Withdrawal(r.Job.URL, r.At, r.Rule))
		if err := c.record(ctx, r.Job.URL, &w); err != nil {
			return err
		}
	}
	return c.frontier.Refuse(ctx, r)
}

// after returns now, or a moment after the last visit if the clock was set back: the
// newer of two fetches decides, and the refusal has to be the newer one.
func after(now, last time.Time) time.Time {
	if least := last.Add(2 * time.Millisecond); now.Before(least) { // last is in whole milliseconds
		now = least
	}
	return now.Round(0).UTC()
}
