package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Loader loads a fetch and runs a function in the same transaction.
type Loader interface {
	LoadAnd(ctx context.Context, f *page.Fetch, also func(context.Context, *txn.Txn, loader.Effect) error) (loader.Effect, error)
	// Loading says that LoadAnd will be called soon, until end is called.
	Loading() (end func())
}

// Decider says whether to crawl a URL that was found, and how soon.
type Decider interface {
	Decide(ctx context.Context, u page.URL, depth int) (scope.Decision, error)
	// DecideResource is Decide for a resource that a page requested when it was
	// rendered.
	DecideResource(ctx context.Context, u page.URL) (scope.Decision, error)
	// Accepts reports whether the rules take a URL that was queued, and why not.
	Accepts(u page.URL, depth int, resource bool) (scope.Decision, bool)
	// Follow takes up the rules that a transaction sees, if another process may have
	// changed them. Decide is called after it. If there is no crawl, no URL is taken.
	Follow(ctx context.Context, tx *txn.Txn) (crawling bool, err error)
	// PagesPerHost is how many URLs of a host are visited; 0: no limit.
	PagesPerHost() int
	// Rank is how important the URL is, as far as is known; see Ranks.
	Rank(ctx context.Context, tx *txn.Txn, u page.URL) (float64, error)
}

// Guard makes a transaction about a host commit only if this process may still ask the
// host then. Transactions with different salts rarely conflict.
type Guard func(ctx context.Context, tx *txn.Txn, host, salt string) error

// Frontier is the crawler's view of the store; it implements crawler.Frontier.
type Frontier struct {
	db     *txn.DB
	load   Loader
	rules  Decider
	wake   func(host string)
	now    func() time.Time
	fronts frontCache

	counting hostLocks

	// Guard is set in a crawl of several processes. URLs that are added then also notify
	// ready at their hosts, which may be another crawler's.
	Guard Guard
}

// New makes a frontier. It calls wake after a host has new entries.
func New(db *txn.DB, load Loader, rules Decider, wake func(host string)) *Frontier {
	return &Frontier{db: db, load: load, rules: rules, wake: wake, now: time.Now}
}

// ref is what a job carries so that its entry can be found again.
type ref struct {
	entry schema.FrontierEntry
}

// hostRows is how many rows of one host Hosts reads before it seeks the next host. A seek reads
// hundreds of rows.
const hostRows = 64

// Hosts implements crawler.Frontier. It skips long queues.
func (f *Frontier) Hosts(ctx context.Context, after string, n int) ([]string, error) {
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	start := ""
	if after != "" {
		start = schema.NextQueueHost(after)
	}
	var hosts []string
	for more := true; more; {
		more = false
		rows := 0 // of the last host
		err := tx.Scan(ctx, schema.GroupQueue, start, "", func(row string, _ []txn.Version) error {
			host := schema.QueueHost(row)
			if last := len(hosts) - 1; last < 0 || hosts[last] != host {
				if len(hosts) == n {
					return txn.ErrStop
				}
				hosts, rows = append(hosts, host), 0
			}
			if rows++; rows == hostRows {
				more, start = len(hosts) < n, schema.NextQueueHost(host)
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("frontier: list hosts: %w", err)
		}
	}
	return hosts, nil
}

// Due implements crawler.Frontier. Due revisits and new URLs take turns, so that a site
// with an endless supply of new URLs does not keep its known pages from being visited
// again.
//
// It first removes URLs that were queued before discover learned that one of their
// parameters makes no difference, or before the settings of the crawl became narrower.
func (f *Frontier) Due(ctx context.Context, host string, now time.Time, n int) ([]crawler.Job, time.Time, error) {
	for {
		jobs, next, undecided, err := f.due(ctx, host, now, n)
		if err != nil || !undecided {
			return jobs, next, err
		}
		f.fronts.drop(host) // jobs of a cached front would not be at the front
		if err := f.lapse(ctx, host, n); err != nil {
			return nil, time.Time{}, err
		}
	}
}

func (f *Frontier) due(ctx context.Context, host string, now time.Time, n int) (_ []crawler.Job, next time.Time, undecided bool, err error) {
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return nil, time.Time{}, false, err
	}
	defer tx.Rollback()
	if _, err := f.rules.Follow(ctx, tx); err != nil {
		return nil, time.Time{}, false, err
	}
	left, err := room(ctx, tx, host, f.rules.PagesPerHost())
	if err != nil {
		return nil, time.Time{}, false, err
	}
	var fresh []crawler.Job
	switch {
	case left < 0:
		fresh, err = f.fresh(ctx, tx, host, now, n)
	case left > 0:
		fresh, err = f.fresh(ctx, tx, host, now, min(n, left))
	}
	if err == nil && len(fresh) > 0 {
		undecided, err = f.undecided(ctx, newParameters(tx), host, fresh)
	}
	if err != nil || undecided {
		return nil, time.Time{}, undecided, wrapQueue(host, err)
	}
	again, next, _, err := part(ctx, tx, schema.QueueRevisits(host), "", now, n)
	if err != nil {
		return nil, time.Time{}, false, wrapQueue(host, err)
	}
	if room := n - len(again); room > 0 && !next.IsZero() { // there are later ones
		stray, err := clockSkew(ctx, tx, host, now, room)
		if err != nil {
			return nil, time.Time{}, false, wrapQueue(host, err)
		}
		again = append(again, stray...)
	}
	asked, again := askedFirst(again)
	return append(asked, interleave(fresh, again, n-len(asked))...), next, false, nil
}

func wrapQueue(host string, err error) error {
	if err != nil {
		return fmt.Errorf("frontier: queue of %s: %w", host, err)
	}
	return nil
}

// fresh reads up to n new URLs of a host, from the cached front of the queue if that
// gives enough of them.
func (f *Frontier) fresh(ctx context.Context, tx *txn.Txn, host string, now time.Time, n int) ([]crawler.Job, error) {
	prefix := schema.QueueNew(host)
	if from := f.fronts.get(host, time.Now()); from != "" {
		jobs, _, first, err := part(ctx, tx, prefix, from, now, n)
		if err != nil {
			return nil, err
		}
		if len(jobs) == n {
			f.fronts.moved(host, first)
			return jobs, nil
		}
	}
	began := time.Now()
	jobs, _, first, err := part(ctx, tx, prefix, "", now, n)
	if err != nil {
		return nil, err
	}
	ended := time.Now()
	f.fronts.found(host, first, ended, ended.Sub(began))
	return jobs, nil
}

// part reads up to n due jobs of one part of a host's queue, starting at the row from
// ("": at its front). It also returns when the next job after them is due, and the
// first row it found.
func part(ctx context.Context, tx *txn.Txn, prefix, from string, now time.Time, n int) (jobs []crawler.Job, next time.Time, first string, err error) {
	if from == "" {
		from = prefix
	}
	err = tx.Scan(ctx, schema.GroupQueue, from, txn.PrefixEnd(prefix), func(row string, _ []txn.Version) error {
		if first == "" {
			first = row
		}
		_, u, due, err := schema.ParseQueueRow(row)
		if err != nil {
			return err
		}
		if len(jobs) == n || due.After(now) {
			next = due
			return txn.ErrStop
		}
		e, known, err := ReadEntry(ctx, tx, u)
		if err != nil || !known {
			return err
		}
		jobs = append(jobs, jobOf(u, e))
		return nil
	})
	return jobs, next, first, err
}

func jobOf(u page.URL, e schema.FrontierEntry) crawler.Job {
	return crawler.Job{
		URL: u, Due: e.Due, Depth: e.Depth, Hops: e.Hops, Source: e.Source, ETag: e.ETag, LastModified: e.LastModified,
		Interval: e.Interval, Strikes: e.Strikes, Visits: e.Visits, Last: e.Last,
		Claimed: !e.Claim.IsZero(), Withdrawn: e.Withdrawn, Resource: e.Resource, Ref: ref{e},
	}
}

// interleave takes from both lists alternately.
func interleave(a, b []crawler.Job, n int) []crawler.Job {
	var jobs []crawler.Job
	for len(jobs) < n && len(a)+len(b) > 0 {
		if len(a) > 0 {
			jobs, a = append(jobs, a[0]), a[1:]
		}
		if len(b) > 0 && len(jobs) < n {
			jobs, b = append(jobs, b[0]), b[1:]
		}
	}
	return jobs
}

// guard checks that this process may still ask a host.
func (f *Frontier) guard(ctx context.Context, tx *txn.Txn, host, salt string) error {
	if f.Guard == nil {
		return nil
	}
	return f.Guard(ctx, tx, host, salt)
}

// ReadEntry reads the entry of a URL; false if the frontier does not know the URL.
func ReadEntry(ctx context.Context, tx *txn.Txn, u page.URL) (schema.FrontierEntry, bool, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.Entry)
	if err != nil || !v.Exists {
		return schema.FrontierEntry{}, false, err
	}
	e, err := schema.DecodeEntry(v.Data)
	return e, true, err
}

// put writes an entry, and moves its queue row from where old had it.
func put(tx *txn.Txn, u page.URL, old *schema.FrontierEntry, e schema.FrontierEntry) {
	host := crawler.HostOf(u)
	if old != nil && old.State == schema.EntryWaiting {
		tx.Delete(schema.QueueRow(host, u, *old), schema.Queued)
	}
	if e.State == schema.EntryWaiting {
		tx.Create(schema.QueueRow(host, u, e), schema.Queued, nil) // a URL waits in one place
	}
	tx.Set(schema.URLRow(u), schema.Entry, e.Encode())
}
