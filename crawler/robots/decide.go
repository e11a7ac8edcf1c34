package robots

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"indexer/page"
)

const (
	// MaxRedirects is how many redirects in a row are followed (RFC 9309 section
	// 2.3.1.2: at least five), also to other hosts.
	MaxRedirects = 5

	// UnreachableLimit is how long robots.txt must have been unreachable for
	// the site to be treated as one without (section 2.3.1.4).
	UnreachableLimit = 30 * 24 * time.Hour
)

// Decide says what follows from f, a fetch of a robots.txt, when prev held before.
// It is a pure function; the time is f.Time. If the verdict is Follow, Policy.Next
// has to be fetched and Decide called with that fetch; fetching the site's own
// robots.txt instead starts anew.
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
// That 429 counts as unreachable, though section 2.3.1.3 has all of 4xx as
// unavailable, is what Google does too: a server that asks for fewer requests has
// not said that it has no rules.
//
// The copy is kept as long as the file is unreachable, however old it is (section
// 2.4), even beyond UnreachableLimit (section 2.3.1.4 permits both). It is
// forgotten when the file turns out to be unavailable: its owner has removed it.
func Decide(prev Policy, f page.Fetch) Policy {
	switch status := f.Status; {
	case status == http.StatusNotModified, isSuccess(status) && f.Revisit && f.Err == "":
		return revalidated(prev, f)
	case isSuccess(status) && f.Err == "":
		return obey(f, newCopy(f), fmt.Sprintf("robots.txt fetched, status %d", status))
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

// newCopy keeps one byte more than is read, so that Parse sees that there was more.
func newCopy(f page.Fetch) *Copy {
	return &Copy{
		Body:         bytes.Clone(f.Body[:min(len(f.Body), DefaultMaxBytes+1)]),
		Time:         f.Time,
		ETag:         f.Header.Get("ETag"),
		LastModified: f.Header.Get("Last-Modified"),
	}
}

// revalidated handles an answer that there is nothing new. To a crawler that has
// no copy this answer says nothing.
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

// cause says why a fetch did not get a robots.txt.
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
