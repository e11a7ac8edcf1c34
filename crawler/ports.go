package crawler

import (
	"context"
	"time"

	"indexer/crawler/fetch"
	"indexer/page"
)

// Job is a URL that is to be fetched.
type Job struct {
	URL page.URL
	// Due is when it may be fetched at the earliest.
	Due time.Time
	// Depth is the number of links from a seed; Hops the number of redirects since
	// the last URL that was linked to.
	Depth, Hops int
	// ETag and LastModified are of the response in force, for a conditional request.
	ETag, LastModified string
	// Interval is the time between the last two visits as planned; 0 before the
	// first. Strikes counts 404s and failures in a row.
	Interval time.Duration
	Strikes  int
	// Visits is how often it was fetched before; Last is when.
	Visits int
	Last   time.Time
	// Ref is the frontier's own, to find the entry again.
	Ref any
}

// Visit is what came of a Job.
type Visit struct {
	Job    Job
	Result fetch.Result
	// Fetch is what is loaded: of the result, or what stands for it.
	Fetch page.Fetch
	// Next decides when the URL is due again, once it is known whether the page
	// has changed. A zero time means never.
	Next func(changed bool) (due time.Time, interval time.Duration)
	// Strikes is the new count.
	Strikes int
	// Note says in words why it is due then, for inspect.
	Note string
}

// Frontier holds the URLs that are known, in the store.
type Frontier interface {
	// Hosts lists hosts that have entries waiting, in order, after a given one.
	Hosts(ctx context.Context, after string, n int) ([]string, error)
	// Due lists up to n jobs of a host that are due, best first, and when the next
	// one after them is (zero: there is none).
	Due(ctx context.Context, host string, now time.Time, n int) (jobs []Job, next time.Time, err error)
	// Visited loads the fetch and moves the entry, in one transaction: a crash
	// leaves both or neither. A redirect's target and a page's links are found by
	// observers later.
	Visited(ctx context.Context, v Visit) error
	// Refuse takes a job out of the queue, with the rule that decided and why. If
	// gone is set the page leaves the index.
	Refuse(ctx context.Context, j Job, rule, why string, gone bool) error
	// Postpone moves a job without a fetch (the host is unreachable, say).
	Postpone(ctx context.Context, j Job, due time.Time, why string) error
	// Add queues URLs found in sitemaps or feeds, if they are in scope and new.
	Add(ctx context.Context, urls []page.URL, depth int, source string) (added int, err error)
	// LoadHost and SaveHost keep what is known of a host across runs; what is
	// stored is the crawler's affair. nil: nothing is known.
	LoadHost(ctx context.Context, host string) ([]byte, error)
	SaveHost(ctx context.Context, host string, state []byte) error
}

// Fetcher makes one HTTP exchange. Package fetch has the real one.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request) fetch.Result
}

// Recorder is told of each exchange, for WARC files. It may be nil.
type Recorder interface {
	Record(ctx context.Context, url page.URL, r *fetch.Result) error
}

// HostOf is the key of a URL's host in the frontier: scheme, host and port, as
// robots.txt files and connections go by them.
func HostOf(u page.URL) string {
	host := u.Scheme() + "://" + u.Host()
	if p := u.Port(); p != "" {
		host += ":" + p
	}
	return host
}
