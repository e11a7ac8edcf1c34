package robots

import "strings"

// AgentMatching says how the names of a crawler are compared with the values of
// user-agent lines. Case never matters.
type AgentMatching uint8

const (
	// AgentToken matches a product token with the token that the value begins
	// with (RFC 9309 section 2.2.1).
	AgentToken AgentMatching = iota
	// AgentFullValue also matches a name that equals the whole value, as
	// crawler-commons does for sites that copy a User-Agent header field.
	AgentFullValue
	// AgentPrefix matches a name if one of the words of the value, between
	// blanks or commas, begins it: the rule of the draft of 1996, which
	// crawler-commons followed before the RFC. "*" as a name asks for the
	// default group in addition.
	AgentPrefix
)

// wildcard is the product token of the group for all other crawlers.
const wildcard = "*"

// ValidAgent tells whether agent is a product token as RFC 9309 section 2.2.1
// allows a crawler to have: letters, hyphens and underscores only.
func ValidAgent(agent string) bool {
	for i := 0; i < len(agent); i++ {
		if c := agent[i]; !isLetter(c) && c != '-' && c != '_' {
			return false
		}
	}
	return agent != ""
}

// matches tells whether a user-agent line concerns the crawler called name.
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

// isWildcard tells the line of the default group. Something may follow after a
// blank, as after a product token.
func isWildcard(value string) bool {
	rest, ok := strings.CutPrefix(value, wildcard)
	return ok && (rest == "" || isBlank(rune(rest[0])))
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
