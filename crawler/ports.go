package crawler

import (
	"context"
	"net/netip"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// Job is a URL to fetch.
type Job struct {
	URL page.URL
	// Due is the earliest time at which to fetch it.
	Due time.Time
	// Depth is the number of links from a seed; Hops is the number of redirects since
	// the last URL that a page linked to.
	Depth, Hops int
	// Source is where the URL was found: a URL, or words.
	Source string
	// ETag and LastModified belong to the response in force, for a conditional request.
	ETag, LastModified string
	// Interval is the planned time between the last two visits; 0 before the first.
	// Strikes counts 404s and failures in a row.
	Interval time.Duration
	Strikes  int
	// Visits is how often it was fetched before; Last is when it was last fetched.
	Visits int
	Last   time.Time
	// Claimed reports that it is due because a sitemap says that the page has changed;
	// Withdrawn that the page was taken out of the index and not fetched since.
	Claimed, Withdrawn bool
	// Resource says that it is fetched for a page that is rendered, or as the icon of its
	// host: nothing in it is followed, and it is not a page of its host.
	Resource bool
	// Ref belongs to the frontier, which finds the entry by it.
	Ref any
}

// Visit is the outcome of a Job.
type Visit struct {
	Job    Job
	Result fetch.Result
	// Fetch is the fetch to load: that of Result, or one that replaces it. It is zero
	// if there is nothing to load.
	Fetch page.Fetch
	// Withdrawn says that the crawler made up Fetch to take the page out of the index.
	Withdrawn bool
	// Next decides when the URL is due again, once it is known whether the page has
	// changed. A zero time means never.
	Next func(changed bool) (due time.Time, interval time.Duration)
	// Strikes counts 404s and failures in a row.
	Strikes int
	// Note says in words why it is due then, for inspect.
	Note string
}

// Finding is what one source names: a sitemap, a feed, the head of a page.
type Finding struct {
	URLs   []Found
	Depth  int    // of all of them
	Source string // a URL, or words
	// BringForward is how many visits of known pages may be made due at once, because
	// the source says that the pages have changed. No visit comes sooner than Spacing
	// after the last visit of its page.
	BringForward int
	Spacing      time.Duration
	// Resources says that all of them are resources (Job.Resource).
	Resources bool
}

// Found is a URL that was found.
type Found struct {
	URL page.URL
	// Changed is when the page changed, according to the source; zero if the source
	// does not say, or cannot be trusted.
	Changed time.Time
}

// Added is the result of adding a Finding: how many URLs are new, and how many visits
// were brought forward.
type Added struct{ New, BroughtForward int }

// Refusal is a job that a rule forbids.
type Refusal struct {
	Job       Job
	At        time.Time // of the fetch that takes the page out of the index
	Rule, Why string
	// Gone reports whether the page has to leave the index.
	Gone bool
	// Again is when the job is due again, to check whether it is still refused; if
	// zero, only Known lists it.
	Again time.Time
}

// Known is a URL in the frontier that waits or was refused.
type Known struct {
	Job     Job
	Refused bool
}

// Frontier holds the known URLs, in the store.
type Frontier interface {
	// Hosts lists hosts that have entries waiting, in order, after a given one.
	Hosts(ctx context.Context, after string, n int) ([]string, error)
	// Due lists up to n due jobs of a host, best first, and when the next one after
	// them is due (zero: there is none).
	Due(ctx context.Context, host string, now time.Time, n int) (jobs []Job, next time.Time, err error)
	// Room returns how many URLs of a host may still be visited for the first time;
	// negative: any number. Due lists no more of them.
	Room(ctx context.Context, host string) (int, error)
	// Visited loads the fetch and moves the entry, in one transaction: a crash leaves
	// both or neither. Observers find the targets of redirects and links later.
	Visited(ctx context.Context, v Visit) error
	// Refuse takes a job out of the queue.
	Refuse(ctx context.Context, r Refusal) error
	// Known lists up to n URLs of a host that wait or were refused, after a given one
	// ("": from the first), and the one to continue after; "" if that was the last.
	Known(ctx context.Context, host string, after page.URL, n int) (list []Known, last page.URL, err error)
	// Readmit queues refused URLs again, due at once.
	Readmit(ctx context.Context, urls []page.URL, why string) error
	// Add queues those URLs of a finding that are in scope and new.
	Add(ctx context.Context, found Finding) (Added, error)
	// LoadHost and SaveHost keep the state of a host across runs. The crawler defines
	// its format; nil means that nothing is known.
	LoadHost(ctx context.Context, host string) ([]byte, error)
	SaveHost(ctx context.Context, host string, state []byte) error
}

// Fetcher makes one HTTP exchange. Package fetch has the real one.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request) fetch.Result
}

// Locator is a Fetcher that can tell in advance which server it will ask. Hosts that
// share an address are then kept apart from their first requests on; with another
// Fetcher, from the end of their first exchanges.
type Locator interface {
	// Locate returns the address that a request for u would go to. It may ask a name
	// server, and be wrong: the address of the exchange counts in the end.
	Locate(ctx context.Context, u page.URL) (netip.Addr, error)
}

// Recorder receives each exchange, to write WARC files. It may be nil.
type Recorder interface {
	Record(ctx context.Context, url page.URL, r *fetch.Result) error
}

// HostOf is the key of a URL's host in the frontier: scheme, host and port, which
// robots.txt files and connections also belong to.
func HostOf(u page.URL) string { return u.Site() }
