package robots

import (
	"strings"
	"time"
)

// DefaultMaxBytes is how much of a file is read: 500 KiB, the minimum of RFC 9309
// section 2.5.
const DefaultMaxBytes = 500 << 10

// Options are departures from RFC 9309 that other crawlers are known for. The zero
// value follows the RFC.
type Options struct {
	// MaxBytes is how much of a file is read. Less than DefaultMaxBytes, which the RFC
	// forbids, means DefaultMaxBytes.
	MaxBytes int

	// Agents says how user-agent lines are matched.
	Agents AgentMatching

	// Verbatim compares URLs octet by octet as they are given. Non-ASCII octets of
	// rules are encoded and hex digits are upper case, but no escape is undone on
	// either side. Google's parser does so and leaves the encoding of the URL to its
	// caller; section 2.2.2 wants both sides normalised.
	Verbatim bool

	// IndexIsDirectory lets "Allow: /dir/index.html" (or anything that begins
	// with index.htm) allow "/dir/" as well, as Google's parser does.
	IndexIsDirectory bool

	// MaxLineBytes cuts longer lines, losing the rest of a rule; 0 means no limit.
	// Google's parser cuts at 16663 octets, eight times the longest URL that old
	// browsers accepted.
	MaxLineBytes int

	// HTML removes tags from files that look like HTML pages, as crawler-commons does
	// for files edited with the wrong program.
	HTML bool

	// BareSitemaps takes a line that is only an http URL as a sitemap without its field
	// name, as crawler-commons does.
	BareSitemaps bool

	// DisallowAboveDelay, if not 0, disallows everything to a crawler that is asked for
	// a longer Crawl-delay; crawler-commons does so above 300 s.
	DisallowAboveDelay time.Duration
}

func (o Options) maxBytes() int {
	return max(o.MaxBytes, DefaultMaxBytes)
}

// AgentMatching says how a crawler's names are compared with the values of user-agent
// lines. Case never matters.
type AgentMatching uint8

const (
	// AgentToken compares a product token with the token that the value begins with
	// (RFC 9309 section 2.2.1).
	AgentToken AgentMatching = iota
	// AgentFullValue also matches a name that equals the whole value, as
	// crawler-commons does for sites that copy a User-Agent header field.
	AgentFullValue
	// AgentPrefix matches a name if one of the words of the value, between blanks or
	// commas, is a prefix of it: the rule of the draft of 1996, which crawler-commons
	// followed before the RFC. The name "*" also selects the default group.
	AgentPrefix
)

// wildcard is the product token of the group for all other crawlers.
const wildcard = "*"

// matches reports whether a user-agent line concerns the crawler called name.
func (m AgentMatching) matches(value, name string) bool {
	if name == "" {
		return false
	}
	if m == AgentPrefix {
		words := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || isBlank(r) })
		for _, word := range words {
			if len(word) <= len(name) && strings.EqualFold(word, name[:len(word)]) {
				return true
			}
		}
		return false
	}
	return strings.EqualFold(productToken(value), name) ||
		m == AgentFullValue && strings.EqualFold(value, name)
}

// productToken is the part of a user-agent value that counts.
func productToken(value string) string {
	for i := 0; i < len(value); i++ {
		if c := value[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '_' {
			return value[:i]
		}
	}
	return value
}

// isWildcard reports whether a value names the default group. Text may follow after a
// blank, as after a product token.
func isWildcard(value string) bool {
	rest, ok := strings.CutPrefix(value, wildcard)
	return ok && (rest == "" || isBlank(rune(rest[0])))
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
