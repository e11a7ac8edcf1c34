package robots

import (
	"time"

	"indexer/page"
)

// Verdict is what a Policy comes down to.
type Verdict uint8

const (
	// Unknown: robots.txt has not been fetched; nothing may be fetched before.
	Unknown Verdict = iota
	// Obey: the rules of Policy.Copy hold.
	Obey
	// AllowAll: there is no robots.txt (RFC 9309 section 2.3.1.3, "unavailable").
	AllowAll
	// DisallowAll: whether there is one cannot be known (section 2.3.1.4,
	// "unreachable").
	DisallowAll
	// Follow: Policy.Next has to be fetched and decided on before anything else.
	Follow
)

// String is the verdict in a word or two.
func (v Verdict) String() string {
	switch v {
	case Obey:
		return "obey"
	case AllowAll:
		return "allow all"
	case DisallowAll:
		return "disallow all"
	case Follow:
		return "follow"
	default:
		return "unknown"
	}
}

// Copy is a robots.txt as a server once gave it.
type Copy struct {
	Body []byte    // as fetched, no more than DefaultMaxBytes+1 of it
	Time time.Time // when the server last confirmed it
	// ETag and LastModified are the header fields to ask again with.
	ETag, LastModified string
}

// Policy is what holds for one site (scheme, host and port) until a point in time.
// The zero value is that of a site whose robots.txt was never fetched.
//
// All fields have to be persisted, the body of Copy as it is; nothing else does.
// Policies are values; the Copy they point to must not be changed.
type Policy struct {
	Verdict Verdict
	// Why says in words what led to the verdict.
	Why string
	// Until is when robots.txt has to be fetched again.
	Until time.Time
	// Next is the URL to fetch, with the verdict Follow, and Hops how many
	// redirects in a row led to it.
	Next page.URL
	Hops int
	// Copy is the last good copy, nil if there is none.
	Copy *Copy
	// Failures counts the fetches in a row that found robots.txt unreachable,
	// and Since is the time of the first of them.
	Failures int
	Since    time.Time
}

// Due tells whether robots.txt has to be fetched at the time now.
func (p Policy) Due(now time.Time) bool {
	return p.Verdict == Unknown || p.Verdict == Follow || !now.Before(p.Until)
}

// Group is what the policy says to the crawler called agent (see File.Group). It
// parses the copy: keep the Group as long as the policy.
func (p Policy) Group(agent string) *Group {
	switch p.Verdict {
	case Obey:
		return p.File().Group(agent)
	case AllowAll:
		return &Group{fallback: Rule{Allow: true, Text: p.Why}}
	case DisallowAll:
		return &Group{fallback: Rule{Text: p.Why}}
	default:
		return &Group{fallback: Rule{Text: "robots.txt has not been fetched yet"}}
	}
}

// File is the parsed copy, an empty file if there is none. Its sitemaps may be
// used whatever the verdict is.
func (p Policy) File() *File {
	if p.Copy == nil {
		return Parse(nil)
	}
	return Parse(p.Copy.Body)
}
