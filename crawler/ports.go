package crawler

import (
	"context"
	"net/netip"
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
	// Source is where the URL was found: a URL, or words.
	Source string
	// ETag and LastModified are of the response in force, for a conditional request.
	ETag, LastModified string
	// Interval is the time between the last two visits as planned; 0 before the
	// first. Strikes counts 404s and failures in a row.
	Interval time.Duration
	Strikes  int
	// Visits is how often it was fetched before; Last is when.
	Visits int
	Last   time.Time
	// Claimed is whether it is due because a sitemap says that the page has changed;
	// Withdrawn whether the page was taken out of the index and not fetched since.
	Claimed, Withdrawn bool
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

// Finding is what one source names: a sitemap, a feed, the head of a page.
type Finding struct {
	URLs   []Found
	Depth  int    // of all of them
	Source string // a URL, or words
	// BringForward is how many visits of pages that are known may be made due at once, as
	// they have changed by what the source says; none sooner than Spacing after the
	// last visit of the page.
	BringForward int
	Spacing      time.Duration
}

// Found is a URL that was found.
type Found struct {
	URL page.URL
	// Changed is when the page changed, as the source says; zero if it does not say, or
	// is not to be believed.
	Changed time.Time
}

// Added is what became of a Finding: how many URLs are new, and how many visits were
// forwarded.
type Added struct{ New, BroughtForward int }

// Refusal is a job that is not to be done, because of a rule.
type Refusal struct {
	Job       Job
	At        time.Time // of the fetch that takes the page out of the index
	Rule, Why string
	// Gone is whether the page has to leave the index.
	Gone bool
	// Again is when the job is listed as due again, to see whether it is still refused;
	// zero: never, but by Known.
	Again time.Time
}

// Known is a URL of which the frontier knows: it waits, or was refused.
type Known struct {
	Job     Job
	Refused bool
}

// Frontier holds the URLs that are known, in the store.
type Frontier interface {
	// Hosts lists hosts that have entries waiting, in order, after a given one.
	Hosts(ctx context.Context, after string, n int) ([]string, error)
	// Due lists up to n jobs of a host that are due, best first, and when the next
	// one after them is (zero: there is none).
	Due(ctx context.Context, host string, now time.Time, n int) (jobs []Job, next time.Time, err error)
	// Room is how many URLs of a host may still be visited for the first time; negative:
	// any number. Due lists no more of them.
	Room(ctx context.Context, host string) (int, error)
	// Visited loads the fetch and moves the entry, in one transaction: a crash
	// leaves both or neither. A redirect's target and a page's links are found by
	// observers later.
	Visited(ctx context.Context, v Visit) error
	// Refuse takes a job out of the queue.
	Refuse(ctx context.Context, r Refusal) error
	// Known lists up to n URLs of a host that wait or were refused, after a given one
	// ("": from the first on), and the one to go on after; "" if that was the last.
	Known(ctx context.Context, host string, after page.URL, n int) (list []Known, last page.URL, err error)
	// Readmit queues URLs again that were refused, due at once.
	Readmit(ctx context.Context, urls []page.URL, why string) error
	// Postpone moves a job without a fetch (the host is unreachable, say).
	Postpone(ctx context.Context, j Job, due time.Time, why string) error
	// Add queues URLs that were found, if they are in scope and new.
	Add(ctx context.Context, found Finding) (Added, error)
	// LoadHost and SaveHost keep what is known of a host across runs; what is
	// stored is the crawler's affair. nil: nothing is known.
	LoadHost(ctx context.Context, host string) ([]byte, error)
	SaveHost(ctx context.Context, host string, state []byte) error
}

// Fetcher makes one HTTP exchange. Package fetch has the real one.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request) fetch.Result
}

// Locator is a Fetcher that knows beforehand which server it is going to ask. Hosts
// that share an address are kept apart from their first requests on, then; with
// another Fetcher, from the end of their first exchanges.
type Locator interface {
	// Locate gives the address that a request for u would go to. It may ask a name
	// server, and be wrong: the address of the exchange is what counts then.
	Locate(ctx context.Context, u page.URL) (netip.Addr, error)
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
