package scope

import (
	"fmt"
	"strings"

	"github.com/webindexer/indexer/page"
)

// member returns what k compares: URLs with equal members are both in scope or both
// out.
func (k Kind) member(u page.URL) string {
	switch k {
	case Page:
		return hostPort(u) + u.Path() + "?" + u.Query()
	case Host:
		return hostPort(u)
	case Domain:
		return page.RegistrableDomain(u.Host())
	}
	return ""
}

// hostPort is the host without "www." and the port; the default port of either scheme
// is "".
func hostPort(u page.URL) string {
	return withoutWWW(u.Host()) + ":" + u.Port()
}

// withoutWWW does not change "www.example", which is a domain of its own.
func withoutWWW(host string) string {
	if rest, found := strings.CutPrefix(host, "www."); found && strings.Contains(rest, ".") {
		return rest
	}
	return host
}

func (k Kind) inside(u page.URL) string {
	switch k {
	case Page:
		return "is a seed but for scheme or www"
	case Host:
		return fmt.Sprintf("is on a seed's host, %s", hostName(u))
	case Domain:
		return fmt.Sprintf("is in a seed's domain, %s", page.RegistrableDomain(u.Host()))
	}
	return "is in scope as every URL is"
}

func (k Kind) outside(u page.URL) string {
	switch k {
	case Page:
		return "is no seed, and the scope is the seeds' pages"
	case Host:
		return fmt.Sprintf("is on %s, which is no seed's host", hostName(u))
	default:
		return fmt.Sprintf("is in the domain %s, which is no seed's", page.RegistrableDomain(u.Host()))
	}
}

func hostName(u page.URL) string {
	if u.Port() == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.Port()
}
