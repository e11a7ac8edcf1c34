package crawler

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// visit does a job: request, decide, add what the page names, record, load.
//
// It stores what the page names, in the frontier and in the state of the host, before it loads
// the page: if that fails, or the process is killed, the job stays due and is done again. After
// the load, only the next visit would find it, and not even that one if the page has not changed.
//
// It records the exchange before it loads it, and records nothing that it does not
// load: replaying the records must give the same index. A crash between the two leaves
// the record of a fetch that was not loaded and will be made again. The next run loads what
// was recorded, because the visit that it makes may load nothing. The other order could
// leave a page in the index that no record explains.
func (c *Crawler) visit(h *host, j Job) task {
	soft := h.soft.ask(&c.opts.Sources, &j)
	known := h.icons
	w := c.wallOf(h, j)
	return func(ctx context.Context, memory *fetch.Reservation) (exchange, func(time.Time), error) {
		res, x := w.fetch(ctx, memory)
		var fresh []page.URL
		giveUp := func(now time.Time) {
			c.countHops(h, w)
			h.jobs.giveUp(j.URL)
			c.queueFeeds(h, fresh, now)
		}
		if x.class == fetch.Canceled || w.abandoned {
			return x, giveUp, nil
		}
		sign := soft.look(&j, &res)
		v := c.opts.Revisits.judge(j, res, sign.notFound || isFalseIcon(&j, &res.Fetch))
		end := v.remember()
		feeds, err := c.discover(ctx, j, &res, sign.notFound)
		sought := known
		if err == nil {
			sought, err = c.seekIcons(ctx, known, j, &res.Fetch)
		}
		if err == nil {
			fresh, err = c.keepFeeds(ctx, h, feeds)
		}
		if err == nil {
			err = c.loadVisit(ctx, v)
		}
		if err != nil {
			return x, giveUp, err
		}
		return x, func(now time.Time) {
			if h.icons.join(sought) {
				h.dirty = true
			}
			c.countHops(h, w)
			h.learnWall(w)
			h.jobs.done(j.URL, end.due)
			if j.Claimed && !res.Fetch.HasFailed() {
				h.claims.learn(end.changed)
				h.dirty = true
			}
			if h.sentinel == j.URL {
				h.sentinel = ""
			}
			c.meter.visited(sign.notFound)
			before := len(h.soft.Suspects)
			h.soft.learn(sign)
			h.urgent = h.urgent || len(h.soft.Suspects) != before
			c.queueFeeds(h, fresh, now)
		}, nil
	}
}

// conditional asks for a page only if it has changed. After a strike it asks
// unconditionally: the ETag belongs to a page that may be out of the index, and "not
// modified" would not bring it back.
func conditional(j Job) fetch.Request {
	if j.Strikes > 0 {
		return fetch.Request{URL: j.URL}
	}
	return fetch.Request{URL: j.URL, ETag: j.ETag, LastModified: j.LastModified}
}

// ending is what was decided when a visit was loaded.
type ending struct {
	changed bool
	due     time.Time
}

// remember makes v.Next store what it decides.
func (v *Visit) remember() *ending {
	e := new(ending)
	next := v.Next
	v.Next = func(changed bool) (time.Time, time.Duration) {
		due, interval := next(changed)
		*e = ending{changed, due}
		return due, interval
	}
	return e
}

func (c *Crawler) loadVisit(ctx context.Context, v Visit) error {
	if v.Fetch.URL != "" {
		res := v.Result
		res.Fetch = v.Fetch
		if v.Withdrawn {
			res = withdrawal(v.Fetch)
		}
		if err := c.record(ctx, v.Job.URL, &res); err != nil {
			return err
		}
	}
	if err := c.frontier.Visited(ctx, v); err != nil {
		return fmt.Errorf("load what was fetched: %w", err)
	}
	return nil
}

// withdrawnHeader marks a fetch that the crawler made up to take a page out of the
// index. Its value is the rule that decided. Nothing depends on it, because servers can send
// it as well.
const withdrawnHeader = "X-Indexer-Withdrawn"

// Withdrawal is the fetch that takes a page out of the index by a rule: status 410, with the
// rule in a header field.
func Withdrawal(u page.URL, at time.Time, rule string) page.Fetch {
	return page.Fetch{URL: u, Time: at.Round(0).UTC(), Status: http.StatusGone, Header: http.Header{withdrawnHeader: {rule}}}
}

// withdrawal is the exchange that is recorded for a Withdrawal. It has no request.
func withdrawal(f page.Fetch) fetch.Result {
	return fetch.Result{
		Fetch:       f,
		HeaderBlock: []byte("HTTP/1.1 410 Gone\r\n" + withdrawnHeader + ": " + f.Header.Get(withdrawnHeader) + "\r\n\r\n"),
	}
}
