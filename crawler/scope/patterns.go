package scope

import (
	"fmt"
	"regexp"
)

// patterns are regular expressions of RE2: matching takes time linear in the URL,
// whatever users write.
type patterns []*regexp.Regexp

func compile(sort string, sources []string) (patterns, error) {
	if len(sources) > MaxPatterns {
		return nil, fmt.Errorf("scope: %d %s patterns, and %d are allowed: join some with |", len(sources), sort, MaxPatterns)
	}
	compiled := make(patterns, 0, len(sources))
	for i, source := range sources {
		if source == "" {
			return nil, fmt.Errorf("scope: %s pattern %d is empty and would match every URL: leave it out", sort, i+1)
		}
		re, err := regexp.Compile(source)
		if err != nil {
			return nil, fmt.Errorf("scope: %s pattern %d, %q: %w (the syntax is that of RE2)", sort, i+1, source, err)
		}
		compiled = append(compiled, re)
	}
	return compiled, nil
}

// match gives the first pattern that matches.
func (p patterns) match(s string) (source string, ok bool) {
	for _, re := range p {
		if re.MatchString(s) {
			return re.String(), true
		}
	}
	return "", false
}
