package sitemap

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/page"
)

// reach decides which entries of a file are kept: the pages of the file's own host and
// port, with either scheme (sites that moved to https list http pages, and the other way
// round), and of the sites that announced the file. Without this rule anyone could make a
// crawler visit, or revisit, any site by publishing a list of its pages.
//
// The protocol also demands that pages are in the file's directory or below. Most sites
// that break that rule mean no harm.
type reach struct {
	host      string
	announced func(site string) bool

	// The last answer of announced: files list the pages of a host together.
	site   string
	answer bool
}

func (r *reach) holds(u page.URL) bool {
	if hostPort(u) == r.host {
		return true
	}
	if r.announced == nil {
		return false
	}
	if site := u.Site(); site != r.site {
		r.site, r.answer = site, r.announced(site)
	}
	return r.answer
}

// hostPort is equal for http and https, if each has its default port.
func hostPort(u page.URL) string { return u.Host() + ":" + u.Port() }

// outsideError is the problem for the first page out of reach; further pages are
// counted.
type outsideError struct {
	url  page.URL
	host string // of the file, as hostPort writes it
}

func (e *outsideError) Error() string {
	return fmt.Sprintf("%s is outside this file's host %s, and its site's robots.txt does not announce the file; such pages are left out", e.url, strings.TrimSuffix(e.host, ":"))
}
