package fetch

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"indexer/page"
)

// Bounds on what is kept of a server's cookies, and sent back to it.
const (
	maxCookies      = 50 // of one response
	maxCookie       = 4096
	maxCookieHeader = 8192
)

// Cookies are the cookies of one visit. They are to be used by one Fetch at a time, and
// not for another visit.
type Cookies struct {
	jar *cookiejar.Jar
}

// NewCookies has none.
func NewCookies() *Cookies {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		return nil // it never fails; without a jar there are no cookies
	}
	return &Cookies{jar: jar}
}

// For is the Cookie field of a request for u, "" if there is none.
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

// keep takes what a response sets.
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
