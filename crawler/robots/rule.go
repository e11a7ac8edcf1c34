package robots

import "fmt"

// Rule is what decided on a URL.
type Rule struct {
	// Allow is the decision.
	Allow bool
	// Line is the number of the rule's line, from 1 on; 0 if no line decided.
	Line int
	// Text is the line without comment ("Disallow: /private/"), or in words
	// what decided if no line did.
	Text string
}

// String is the rule as a user is told of it.
func (r Rule) String() string {
	if r.Line == 0 {
		return r.Text
	}
	return fmt.Sprintf("robots.txt line %d: %s", r.Line, r.Text)
}
