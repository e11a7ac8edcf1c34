package crawler

import (
	"fmt"
	"net/http"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// judge decides what to load for a job and when the URL is due again.
//
//	a page, a redirect, another type     load it; again after the interval, which is half as
//	                                     long again if nothing changed, half as long if it did
//	304                                  load a revisit; nothing changed
//	404 or soft 404 of a known page,     load and record nothing: the page stays in the
//	first time                           index; again after GoneRetry
//	the same, twice; or never a page     gone; again after MaxInterval
//	410                                  gone, at once; again after MaxInterval
//	429                                  noted; again after Retry-After or Retry, no strike,
//	                                     because it says nothing about the URL
//	5xx, 408, 425, no usable response    noted; again after Retry, times 4 with every strike,
//	                                     and after MaxStrikes after MaxInterval
//	other 4xx, too large, invalid URL    noted; again after the interval, as if unchanged:
//	                                     asking sooner will not help
//
// A strike is a 404 or a failure. A 404 after a failure is deliberately the second
// strike: both visits, some minutes apart, found no page. A URL with as many visits as
// strikes has never been a page, and neither is a withdrawn page: there is nothing to
// lose, so the first 404 decides.
//
// A soft 404 at a URL that has never been a page is not loaded at all: for the index,
// the URL was not fetched.
func (o *Revisits) judge(j Job, res fetch.Result, soft bool) Visit {
	f := &res.Fetch
	v := Visit{Job: j, Result: res, Fetch: res.Fetch, Strikes: j.Strikes + 1}
	switch {
	case f.Err == "" && (f.Status == http.StatusNotFound || soft):
		o.notFound(&v, soft)
	case f.Err == "" && f.Status == http.StatusGone:
		o.after(&v, o.MaxInterval, "gone (410)")
	case f.Status == http.StatusTooManyRequests:
		v.Strikes = j.Strikes
		o.after(&v, max(o.Retry, min(res.RetryAfter, o.MaxInterval)), "the host has had too many requests (429)")
	case !f.HasFailed():
		v.Strikes = 0
		v.Next = o.adaptive(j, f.Time)
		v.Note = "visited"
	case lasting(&res):
		v.Next = o.adaptive(j, f.Time)
		v.Note = fmt.Sprintf("failed: %s; not likely to change soon", reason(f))
	default:
		note := "failed once: " + reason(f)
		if v.Strikes > 1 {
			note = fmt.Sprintf("failed %d times in a row, last: %s", v.Strikes, reason(f))
		}
		o.after(&v, max(o.retry(v.Strikes), min(res.RetryAfter, o.MaxInterval)), note)
	}
	return v
}

// softNotFoundRule is the rule that withdraws a page that says "not found" with status
// 200.
const softNotFoundRule = "soft-404"

func (o *Revisits) notFound(v *Visit, soft bool) {
	what := "not found (404)"
	if soft {
		what = "not found (soft 404: it answers like a path that cannot exist)"
	}
	known := wasPage(&v.Job)
	switch {
	case known && v.Strikes < 2:
		v.Fetch = page.Fetch{}
		o.after(v, o.GoneRetry, what+" for the first time; a second time takes it out of the index")
		return
	case soft && known:
		v.Fetch, v.Withdrawn = Withdrawal(v.Job.URL, v.Result.Fetch.Time, softNotFoundRule), true
	case soft:
		v.Fetch = page.Fetch{}
	}
	o.after(v, o.MaxInterval, what)
}

// wasPage reports whether a URL was a page at its last visit, as far as is known.
func wasPage(j *Job) bool { return j.Visits > j.Strikes && !j.Withdrawn }

// takenBack is the visit that takes out of the index a page that turned out to say "not
// found" after it was loaded.
func (o *Revisits) takenBack(u page.URL, at time.Time) Visit {
	w := withdrawal(Withdrawal(u, at, softNotFoundRule))
	v := Visit{Job: Job{URL: u}, Result: w, Fetch: w.Fetch, Withdrawn: true, Strikes: 1}
	o.after(&v, o.MaxInterval, "not found (soft 404: it answers like a path that cannot exist); found out after it was loaded")
	return v
}

// after schedules the next visit after a fixed time. It keeps the interval for when the
// page is back.
func (o *Revisits) after(v *Visit, wait time.Duration, note string) {
	due, interval := v.Result.Fetch.Time.Add(wait), v.Job.Interval
	v.Next = func(bool) (time.Time, time.Duration) { return due, interval }
	v.Note = note
}

// adaptive approaches the interval between two changes by halving and growing.
func (o *Revisits) adaptive(j Job, at time.Time) func(bool) (time.Time, time.Duration) {
	return func(changed bool) (time.Time, time.Duration) {
		d := j.Interval
		switch {
		case d == 0:
			d = o.FirstInterval
		case changed:
			d /= 2
		default:
			d += d / 2
		}
		d = min(max(d, o.MinInterval), o.MaxInterval)
		return at.Add(d), d
	}
}

// retry returns how long to wait after the given number of strikes in a row.
func (o *Revisits) retry(strikes int) time.Duration {
	if strikes >= o.MaxStrikes {
		return o.MaxInterval
	}
	return backOff(o.Retry, 4, strikes, o.MaxInterval)
}

// lasting reports whether a failure is of a kind that waiting does not cure.
func lasting(r *fetch.Result) bool {
	switch r.Class {
	case fetch.TooLarge, fetch.BadRequest, fetch.RefusedAddress:
		return true
	case fetch.OK:
	default:
		return false
	}
	switch s := r.Fetch.Status; s {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return false
	default:
		return s < 500
	}
}

func reason(f *page.Fetch) string {
	if f.Err != "" {
		return f.Err
	}
	return fmt.Sprintf("status %d", f.Status)
}
