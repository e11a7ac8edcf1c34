package robots

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// Verdict is the outcome of a Policy.
type Verdict uint8

const (
	// Unknown: robots.txt has not been fetched; nothing else may be fetched before it.
	Unknown Verdict = iota
	// Obey: the rules of Policy.Copy hold.
	Obey
	// AllowAll: there is no robots.txt (RFC 9309 section 2.3.1.3, "unavailable").
	AllowAll
	// DisallowAll: it cannot be known whether there is a robots.txt (section 2.3.1.4,
	// "unreachable").
	DisallowAll
	// Follow: Policy.Next has to be fetched and decided on first.
	Follow
)

// String returns the verdict in a word or two.
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

// Copy is a robots.txt as a server once returned it.
type Copy struct {
	Body []byte    // as fetched, at most DefaultMaxBytes+1 bytes
	Time time.Time // when the server last confirmed it
	// ETag and LastModified are for a conditional request to the site's own robots.txt; empty
	// if a redirect led to the file, because they belong to the URL that returned them.
	ETag, LastModified string
}

// Policy holds for one site (scheme, host and port) until a point in time. The zero
// value is the policy of a site whose robots.txt was never fetched.
//
// Store all fields, including the body of Copy unchanged; nothing else needs to be
// stored. Policies are values; do not change the Copy they point to.
type Policy struct {
	Verdict Verdict
	// Why says in words what led to the verdict.
	Why string
	// Until is when robots.txt has to be fetched again.
	Until time.Time
	// Next is the URL to fetch if the verdict is Follow; Hops is how many redirects in
	// a row led to it.
	Next page.URL
	Hops int
	// Copy is the last good copy, nil if there is none.
	Copy *Copy
	// Failures counts the fetches in a row that found robots.txt unreachable; Since is
	// the time of the first of them.
	Failures int
	Since    time.Time
}

// Due reports whether robots.txt has to be fetched at the time now.
func (p Policy) Due(now time.Time) bool {
	return p.Verdict == Unknown || p.Verdict == Follow || !now.Before(p.Until)
}

// Group is what the policy says to the crawler called agent (see File.Group). It parses
// the copy: keep the Group as long as the policy.
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

// File returns the parsed copy, an empty file if there is none. Its sitemaps may be
// used whatever the verdict is.
func (p Policy) File() *File {
	if p.Copy == nil {
		return Parse(nil)
	}
	return Parse(p.Copy.Body)
}

const (
	// MaxRedirects is how many redirects in a row are followed, even to other hosts
	// (RFC 9309 section 2.3.1.2: at least five).
	MaxRedirects = 5

	// UnreachableLimit is how long robots.txt must have been unreachable for the site
	// to count as one without (section 2.3.1.4).
	UnreachableLimit = 30 * 24 * time.Hour
)

// Decide returns the policy that follows from f, a fetch of a robots.txt, when prev
// held before. It is a pure function; the time is f.Time. If the verdict is Follow,
// fetch Policy.Next and call Decide with that fetch; fetching the site's own robots.txt
// instead starts over.
//
//	2xx                    obey it
//	304                    obey the copy
//	3xx                    follow, up to MaxRedirects; then, or without a
//	                       Location that can be followed, as 4xx
//	4xx                    allow all: unavailable
//	429, 5xx, no response  obey the last good copy, else disallow all:
//	                       unreachable; after UnreachableLimit, allow all
//	                       if there is no copy
//
// Section 2.3.1.3 counts all of 4xx as unavailable. Decide counts 429 as unreachable,
// as Google does: a server that asks for fewer requests has not said that it has no
// rules.
//
// The copy is kept as long as the file is unreachable, however old it is (section 2.4),
// even beyond UnreachableLimit (section 2.3.1.4 permits both). It is dropped when the
// file turns out to be unavailable: its owner has removed it.
func Decide(prev Policy, f page.Fetch) Policy {
	switch status := f.Status; {
	case status == http.StatusNotModified, isSuccess(status) && f.Revisit && f.Err == "":
		return revalidated(prev, f)
	case isSuccess(status) && f.Err == "":
		return obey(f, newCopy(prev, f), fmt.Sprintf("robots.txt fetched, status %d", status))
	case 300 <= status && status < 400:
		return redirected(prev, f)
	case status == http.StatusTooManyRequests:
		return unreachable(prev, f)
	case 400 <= status && status < 500:
		return unavailable(f, fmt.Sprintf("robots.txt has status %d", status))
	default:
		return unreachable(prev, f)
	}
}

func isSuccess(status int) bool { return 200 <= status && status < 300 }

func obey(f page.Fetch, c *Copy, why string) Policy {
	if len(c.Body) > DefaultMaxBytes {
		why += fmt.Sprintf("; only the first %d bytes are read", DefaultMaxBytes)
	}
	return Policy{Verdict: Obey, Why: why, Until: f.Time.Add(lifetime(f.Header)), Copy: c}
}

// newCopy keeps one byte more than is read, so that Parse sees that the file is longer.
func newCopy(prev Policy, f page.Fetch) *Copy {
	c := &Copy{Body: bytes.Clone(f.Body[:min(len(f.Body), DefaultMaxBytes+1)]), Time: f.Time}
	if prev.Verdict != Follow || prev.Next != f.URL {
		c.ETag, c.LastModified = f.Header.Get("ETag"), f.Header.Get("Last-Modified")
	}
	return c
}

// revalidated handles the answer that nothing has changed. Without a copy this answer
// says nothing.
func revalidated(prev Policy, f page.Fetch) Policy {
	if prev.Copy == nil {
		return unreachable(prev, f)
	}
	c := *prev.Copy
	c.Time = f.Time
	return obey(f, &c, "robots.txt is unchanged")
}

func redirected(prev Policy, f page.Fetch) Policy {
	hops := 1
	if prev.Verdict == Follow && prev.Next == f.URL {
		hops = prev.Hops + 1
	}
	if hops > MaxRedirects {
		return unavailable(f, fmt.Sprintf("robots.txt redirects more than %d times", MaxRedirects))
	}
	location := f.Header.Get("Location")
	if location == "" {
		return unavailable(f, fmt.Sprintf("robots.txt has status %d without a Location", f.Status))
	}
	next, err := f.URL.Resolve(location)
	if err != nil {
		return unavailable(f, fmt.Sprintf("robots.txt redirects to what cannot be fetched: %v", err))
	}
	prev.Verdict, prev.Next, prev.Hops = Follow, next, hops
	prev.Why = fmt.Sprintf("robots.txt redirects to %s", next)
	return prev
}

func unavailable(f page.Fetch, why string) Policy {
	return Policy{
		Verdict: AllowAll,
		Why:     why + ": treated as none, everything is allowed",
		Until:   f.Time.Add(lifetime(f.Header)),
	}
}

func unreachable(prev Policy, f page.Fetch) Policy {
	p := Policy{Copy: prev.Copy, Failures: prev.Failures + 1, Since: prev.Since}
	if prev.Failures == 0 {
		p.Since = f.Time
	}
	p.Until = f.Time.Add(retryAfter(f, p.Failures))
	why := "robots.txt is unreachable (" + cause(f) + ")"
	switch {
	case p.Copy != nil:
		p.Verdict = Obey
		p.Why = fmt.Sprintf("%s: the copy of %s holds", why, p.Copy.Time.UTC().Format(time.RFC3339))
	case f.Time.Sub(p.Since) >= UnreachableLimit:
		p.Verdict = AllowAll
		p.Why = fmt.Sprintf("%s since %s: treated as none, everything is allowed", why, p.Since.UTC().Format(time.RFC3339))
	default:
		p.Verdict = DisallowAll
		p.Why = why + ": everything is disallowed"
	}
	return p
}

// cause says why a fetch did not return a robots.txt.
func cause(f page.Fetch) string {
	switch {
	case f.Err != "":
		return f.Err
	case f.Status == 0:
		return "no response"
	case f.Revisit || f.Status == http.StatusNotModified:
		return "unchanged, but no copy is kept"
	default:
		return fmt.Sprintf("status %d", f.Status)
	}
}

const (
	// MaxLifetime is how long a robots.txt may be used before it is fetched again (RFC
	// 9309 section 2.4).
	MaxLifetime = 24 * time.Hour
	// MinLifetime is how long it is used even if the server wants less: otherwise the
	// crawler would fetch little else.
	MinLifetime = time.Minute
)

// lifetime is how long an answer may be used: the max-age of its Cache-Control field
// (RFC 9111 section 5.2.2.1) less its Age, between MinLifetime and MaxLifetime;
// MaxLifetime without max-age. Other directives are ignored: many servers send
// "no-cache" with everything, without thinking of robots.txt.
func lifetime(h http.Header) time.Duration {
	for _, field := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			if !strings.EqualFold(name, "max-age") {
				continue
			}
			if maxAge, ok := seconds(strings.Trim(value, `"`)); ok {
				age, _ := seconds(h.Get("Age"))
				return clamp(maxAge - age)
			}
		}
	}
	return MaxLifetime
}

// retryAfter is how long to wait after a number of failures in a row: what the Retry-After
// field says, else a minute, doubled with each failure; between MinLifetime and MaxLifetime.
func retryAfter(f page.Fetch, failures int) time.Duration {
	if wait, ok := page.RetryAfter(f.Header, f.Time); ok {
		return clamp(wait)
	}
	const doublings = 11 // beyond MaxLifetime
	return clamp(MinLifetime << min(max(failures-1, 0), doublings))
}

// seconds reads delta-seconds (RFC 9111 section 1.2.2), which are digits. A value too
// large to represent means very long.
func seconds(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(maxDelay/time.Second) {
		return maxDelay, true
	}
	return time.Duration(n) * time.Second, true
}

func clamp(d time.Duration) time.Duration {
	return min(max(d, MinLifetime), MaxLifetime)
}
