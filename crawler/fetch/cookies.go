package fetch

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/webindexer/indexer/page"
)

// Bounds on the cookies that are kept and sent back to a server.
const (
	maxCookies      = 50 // in one response
	maxCookie       = 4096
	maxCookieHeader = 8192
)

// Cookies are the cookies of one visit. Only one Fetch may use them at a time, and only
// for that visit.
type Cookies struct {
	jar *cookiejar.Jar
}

// NewCookies returns an empty set.
func NewCookies() *Cookies {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		return nil // it never fails; without a jar there are no cookies
	}
	return &Cookies{jar: jar}
}

// For returns the Cookie field of a request for u, "" if there is none.
func (c *Cookies) For(u page.URL) string {
	to, err := url.Parse(string(u))
	if c == nil || err != nil {
		return ""
	}
	var b strings.Builder
	for _, cookie := range c.jar.Cookies(to) {
		pair := (&http.Cookie{Name: cookie.Name, Value: cookie.Value, Quoted: cookie.Quoted}).String()
		if pair == "" || b.Len()+len(pair)+2 > maxCookieHeader {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(pair)
	}
	return b.String()
}

// keep stores the cookies that a response sets.
func (c *Cookies) keep(u page.URL, resp *http.Response) {
	from, err := url.Parse(string(u))
	if c == nil || err != nil {
		return
	}
	var kept []*http.Cookie
	for _, cookie := range resp.Cookies() {
		if len(kept) < maxCookies && len(cookie.Name)+len(cookie.Value) <= maxCookie {
			kept = append(kept, cookie)
		}
	}
	c.jar.SetCookies(from, kept)
}
