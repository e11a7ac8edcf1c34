package scope

import "fmt"

// Kind is how far a crawl goes beyond its seeds.
type Kind uint8

const (
	// Host takes all pages of the seeds' hosts, with the same port (those of http and
	// https count as equal), with or without "www.": one of the two usually redirects
	// to the other. It is the default.
	Host Kind = iota
	// Page takes only the seeds, with either scheme and with or without "www.".
	Page
	// Domain takes all hosts and ports of the seeds' registrable domains, as defined by
	// the public suffix list (https://publicsuffix.org): all of example.co.uk, but at a
	// host like github.io only one user's site. An address, or a host outside every
	// domain, is a domain of its own.
	Domain
	// Any takes every page.
	Any
)

var kindNames = [...]string{Host: "host", Page: "page", Domain: "domain", Any: "any"}

// String returns the kind as ParseKind reads it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind reads "page", "host", "domain" or "any".
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if s == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("scope %q is not known: choose page, host, domain or any", s)
}

// NoMaxDepth is the MaxDepth that means no limit.
const NoMaxDepth = -1

// MaxPatterns is the number of patterns of each sort that a Config may have; every URL
// is compared with all of them.
const MaxPatterns = 1000

// Config is what the user asks for. The zero value takes only the seeds, because its MaxDepth
// is 0.
type Config struct {
	Kind Kind
	// MaxDepth is the number of links from a seed that are followed. 0 means only the
	// seeds.
	MaxDepth int
	// Include and Exclude are RE2 patterns (https://github.com/google/re2/wiki/Syntax).
	// They are compared with the whole URL in its canonical form, including scheme and
	// query: "https://example.com/docs/a?p=1". They match anywhere in it; ^ and $
	// anchor them, and (?i) ignores case. A URL must match one of Include, if there are
	// any, and none of Exclude. Include narrows the Kind and never widens it.
	Include []string
	Exclude []string
}

func (c *Config) validate() error {
	if int(c.Kind) >= len(kindNames) {
		return fmt.Errorf("scope: %v is not known", c.Kind)
	}
	if c.MaxDepth < NoMaxDepth {
		return fmt.Errorf("scope: depth %d is not possible: give 0 or more, or %d for no limit", c.MaxDepth, NoMaxDepth)
	}
	return nil
}
