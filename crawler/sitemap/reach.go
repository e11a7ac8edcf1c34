package sitemap

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/page"
)

// Reach limits which sites a file may list. Without such a rule anyone could make a
// crawler visit, or revisit, any site by publishing a list of its pages.
type Reach uint8

const (
	// SameHost keeps the pages of the file's own host and port, with either scheme:
	// sites that moved to https list http pages, and the other way round.
	SameHost Reach = iota
	// SameDirectory keeps, as the protocol demands, only pages of that host in the
	// file's directory or below. Most sites that break this rule mean no harm, so it is
	// not the default.
	SameDirectory
	// AnyHost keeps every page.
	AnyHost
)

// reach decides which entries of a file are kept.
type reach struct {
	rule      Reach
	host      string
	dir       string
	announced func(site string) bool

	// The last answer of announced: files list the pages of a host together.
	site   string
	answer bool
}

func newReach(base page.URL, opts Options) *reach {
	path := base.Path()
	return &reach{
		rule:      opts.Reach,
		host:      hostPort(base),
		dir:       path[:strings.LastIndexByte(path, '/')+1],
		announced: opts.Announced,
	}
}

func (r *reach) holds(u page.URL) bool {
	if r.rule == AnyHost {
		return true
	}
	if hostPort(u) == r.host && (r.rule != SameDirectory || strings.HasPrefix(u.Path(), r.dir)) {
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
	url   page.URL
	reach *reach
}

func (e *outsideError) Error() string {
	where := "host " + strings.TrimSuffix(e.reach.host, ":")
	if e.reach.rule == SameDirectory {
		where += " and directory " + e.reach.dir
	}
	return fmt.Sprintf("%s is outside this file's %s, and its site's robots.txt does not announce the file; such pages are left out", e.url, where)
}
