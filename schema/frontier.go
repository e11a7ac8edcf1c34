package schema

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The locality groups of crawling.
const (
	GroupFrontier = "frontier" // URL rows: past visits of a URL, and the next one
	GroupQueue    = "queue"    // queue rows: what to fetch from a host, in order
	GroupHost     = "host"     // host rows: what the crawler knows about a host
	GroupSeed     = "seed"     // URL rows: the seeds
	// GroupDivision holds which process crawls which hosts (package division). Only tables
	// that several processes share have it.
	GroupDivision = "crawl"
)

// The columns of crawling.
var (
	// Entry is a URL's place in the frontier. w: discover, frontier
	Entry = txn.Column{Group: GroupFrontier, Name: "entry"}
	// Queued marks a queue row. w: discover, frontier
	Queued = txn.Column{Group: GroupQueue, Name: "x"}
	// HostState is what the crawler knows about a host. w: frontier
	HostState = txn.Column{Group: GroupHost, Name: "state"}
	// HostReady is never written; a weak notification says that a host has new entries.
	// o: ready
	HostReady = txn.Column{Group: GroupHost, Name: "ready"}
	// Discover is never written; a weak notification says that the links, frames or target
	// of a URL have changed. o: discover
	Discover = txn.Column{Group: GroupFrontier, Name: "discover"}
	// Prefetch is never written; a weak notification says that a page to be rendered is new
	// or has changed. o: prefetch
	Prefetch = txn.Column{Group: GroupFrontier, Name: "prefetch"}
	// Discovery is how far the links of a page with very many were offered to the frontier.
	// w: discover
	Discovery = txn.Column{Group: GroupURL, Name: "discovery"}
	// Seed marks a seed. w: frontier
	Seed = txn.Column{Group: GroupSeed, Name: "x"}
	// CrawlConfig says how far from its seeds the crawl goes. w: frontier
	CrawlConfig = txn.Column{Group: GroupApp, Name: "crawl"}
)

// EntryState says whether a URL is waiting to be visited.
type EntryState uint8

// The states. The numbers are stored.
const (
	EntryWaiting EntryState = 0 // in the queue
	EntryRefused EntryState = 1 // by robots.txt, or it has lapsed (Lapsed)
	EntryDone    EntryState = 2 // visited, and will not be visited again
)

// String names the state.
func (s EntryState) String() string {
	if int(s) < 3 {
		return [...]string{"waiting", "refused", "done"}[s]
	}
	return "invalid"
}

// FrontierEntry is a URL's place in the frontier.
type FrontierEntry struct {
	State EntryState
	// Revisit says that the URL is queued among the revisits of its host, in the order of
	// Due. New URLs are due at once, in the order of depth and Weight.
	Revisit bool
	// Refused, with EntryWaiting, says that the URL was refused but waits, so that the
	// crawler fetches its host's robots.txt again.
	Refused bool
	// Withdrawn says that a refusal removed the page from the index, and that the page
	// has not been visited since.
	Withdrawn bool
	// Kept says that the URL is fetched although one of its parameters makes no difference:
	// another page leads to it, or it serves to check that this is still so. Lapsed, with
	// EntryRefused, says that the URL was queued, and is not fetched because of the parameter
	// or because the settings of the crawl have changed.
	Kept, Lapsed bool
	// Asked says that a user wants the URL visited now, before all others.
	Asked bool
	// Resource says that the URL is fetched only because a page asked for it when it was rendered,
	// or as the icon of its host. The crawl follows no links in it.
	Resource     bool
	Due          time.Time // when a revisit is due
	Depth, Hops  int
	ETag         string
	LastModified string
	Interval     time.Duration
	Strikes      int
	Visits       int
	Last         time.Time // last visit
	Source       string    // where the URL was found: a URL, "seeds", "sitemap …"
	Note         string    // why it is due at that time, or why it was refused
	// Because of its rank, a new URL is treated as Weight links nearer to the seeds than
	// it is; see MaxWeight.
	Weight int
	// Claim is when the page changed according to a sitemap, if the pending visit was
	// brought forward because of that; otherwise zero.
	Claim time.Time
	// History has the last visits, the oldest first, at most MaxHistory.
	History []PastVisit
}

// IsRefused reports whether a rule keeps the URL from being fetched.
func (e *FrontierEntry) IsRefused() bool { return e.State == EntryRefused || e.Refused }

// Encode encodes the entry for Entry.
//
// Fields that were added to the format later come at the end, and are written only if one
// of them is set. So entries of older versions can be read, and entries of URLs that were
// never fetched, which are by far the most, stay short.
func (e FrontierEntry) Encode() []byte {
	f := flags(e.Revisit, e.Refused, e.Withdrawn, e.hasMore(), e.Kept, e.Lapsed, e.Asked, e.Resource)
	b := enc(nil).byte(byte(e.State)).byte(f).uint(uint64(e.Depth)).uint(uint64(e.Hops))
	b = b.string(e.ETag).string(e.LastModified).uint(uint64(e.Interval / time.Second)).uint(uint64(e.Strikes)).uint(uint64(e.Visits))
	b = b.uint(unixMilli(e.Due)).uint(unixMilli(e.Last)).string(e.Source).string(e.Note)
	if !e.hasMore() {
		return b
	}
	b = b.byte(byte(int8(e.Weight))).uint(unixMilli(e.Claim))
	return encodeHistory(b, e.History)
}

// The flags, in the order in which Encode writes them. The numbers are stored.
const (
	entryRevisit   = 1
	entryRefused   = 2
	entryWithdrawn = 4
	entryMore      = 8 // later fields follow
	entryKept      = 16
	entryLapsed    = 32
	entryAsked     = 64
	entryResource  = 128
)

func (e *FrontierEntry) hasMore() bool {
	return e.Weight != 0 || !e.Claim.IsZero() || len(e.History) > 0
}

// DecodeEntry decodes an entry.
func DecodeEntry(b []byte) (FrontierEntry, error) {
	d := newDec(b)
	e := FrontierEntry{State: EntryState(d.Byte())}
	f := d.Byte()
	e.Revisit, e.Refused, e.Withdrawn = f&entryRevisit != 0, f&entryRefused != 0, f&entryWithdrawn != 0
	e.Kept, e.Lapsed, e.Asked = f&entryKept != 0, f&entryLapsed != 0, f&entryAsked != 0
	e.Resource = f&entryResource != 0
	e.Depth, e.Hops = int(d.Uint()), int(d.Uint())
	e.ETag, e.LastModified = d.Text(), d.Text()
	e.Interval = d.duration(time.Second)
	e.Strikes, e.Visits = int(d.Uint()), int(d.Uint())
	e.Due, e.Last = fromUnixMilli(d.Uint()), fromUnixMilli(d.Uint())
	e.Source, e.Note = d.Text(), d.Text()
	if f&entryMore != 0 {
		e.Weight, e.Claim = int(int8(d.Byte())), fromUnixMilli(d.Uint())
		e.History = decodeHistory(d)
	}
	return e, d.done("frontier entry")
}

// unixMilli returns 0 for the zero time.
func unixMilli(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return storableMilli(uint64(max(t.UnixMilli(), 1)))
}

// storableMilli bounds a time by the year 9999: no visit is planned after it, and JSON has
// no later times.
func storableMilli(ms uint64) uint64 { return min(ms, 253402300799999) }

// duration reads a duration in units of unit.
func (d dec) duration(unit time.Duration) time.Duration {
	return time.Duration(min(d.Uint(), uint64(math.MaxInt64/unit))) * unit
}

func fromUnixMilli(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(storableMilli(ms))).UTC()
}

// The queue of a host has two parts: new URLs, in the order of their place, and revisits,
// in the order in which they are due. Both are ranges of rows:
//
//	[host][0]['n'][place, 1][URL key]
//	[host][0]['r'][due, ms since 1970, 8 bytes big-endian][URL key]
const (
	queueNew     = 'n'
	queueRevisit = 'r'
)

// QueueRow returns the row of a waiting entry.
func QueueRow(host string, u page.URL, e FrontierEntry) string {
	b := append([]byte(host), 0)
	if e.Revisit {
		b = append(b, queueRevisit)
		b = binary.BigEndian.AppendUint64(b, unixMilli(e.Due))
	} else {
		b = append(b, queueNew, e.place())
	}
	return string(append(b, u.Key()...))
}

// MaxWeight bounds FrontierEntry.Weight in both directions: no rank puts a page behind all
// others, and none puts it before the seeds.
const MaxWeight = 6

// place returns the place of a new URL in the queue: its depth minus its weight.
func (e *FrontierEntry) place() byte {
	if e.Depth <= 0 {
		return 0
	}
	return byte(min(max(e.Depth-min(max(e.Weight, -MaxWeight), MaxWeight), 1), 255))
}

// QueueNew returns the prefix of the rows of a host's new URLs.
func QueueNew(host string) string { return host + "\x00" + string(rune(queueNew)) }

// QueueRevisits returns the prefix of the rows of a host's revisits.
func QueueRevisits(host string) string { return host + "\x00" + string(rune(queueRevisit)) }

// QueueRevisitsFrom returns the row at which those revisits of a host begin that are due
// at a time or later.
func QueueRevisitsFrom(host string, due time.Time) string {
	return string(binary.BigEndian.AppendUint64([]byte(QueueRevisits(host)), unixMilli(due)))
}

// ParseQueueRow parses a row made by QueueRow; due is zero for a new URL.
func ParseQueueRow(row string) (host string, u page.URL, due time.Time, err error) {
	host, rest, ok := strings.Cut(row, "\x00")
	key := ""
	switch {
	case ok && len(rest) > 2 && rest[0] == queueNew:
		key = rest[2:]
	case ok && len(rest) > 9 && rest[0] == queueRevisit:
		due, key = fromUnixMilli(binary.BigEndian.Uint64([]byte(rest[1:9]))), rest[9:]
	default:
		return "", "", due, fmt.Errorf("schema: queue row %q: %w", row, store.ErrCorrupt)
	}
	u, err = ParseURLRow(key)
	return host, u, due, err
}

// QueueHost returns the host of a queue row.
func QueueHost(row string) string {
	host, _, _ := strings.Cut(row, "\x00")
	return host
}

// NextQueueHost returns a row after all rows of a host, at or before the first row of the
// next host.
func NextQueueHost(host string) string { return host + "\x01" }
