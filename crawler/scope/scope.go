package scope

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/webindexer/indexer/page"
)

// Scope compares URLs with a Config. Apart from its counts it is immutable, and it is
// safe for concurrent use.
type Scope struct {
	config  Config
	include patterns
	exclude patterns
	seeds   map[page.URL]struct{}
	members map[string]struct{} // the seeds' members; see Kind.member
	refused tally
}

// New makes a Scope. The seeds of a crawl should include the targets of their
// redirects: otherwise a site that has moved is out of scope.
func New(config Config, seeds []page.URL) (*Scope, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if len(seeds) == 0 && config.Kind != Any {
		return nil, errors.New("scope: without seeds nothing is in scope: give seeds, or scope any")
	}
	include, err := compile("include", config.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := compile("exclude", config.Exclude)
	if err != nil {
		return nil, err
	}
	s := &Scope{
		config:  config,
		include: include,
		exclude: exclude,
		seeds:   make(map[page.URL]struct{}, len(seeds)),
		members: make(map[string]struct{}),
		refused: newTally("scope.exclude", "scope.depth", "scope.page", "scope.host", "scope.domain", "scope.include"),
	}
	for _, u := range seeds {
		s.seeds[u] = struct{}{}
		s.members[config.Kind.member(u)] = struct{}{}
	}
	return s, nil
}

// Decide decides about u, found depth links from a seed (a redirect is not a link), and
// counts a refusal.
func (s *Scope) Decide(u page.URL, depth int) Decision {
	return s.refused.count(s.Explain(u, depth))
}

// Explain is Decide without counting.
func (s *Scope) Explain(u page.URL, depth int) Decision {
	if d, excluded := s.excluded(u); excluded {
		return d
	}
	if _, ok := s.seeds[u]; ok {
		return take("scope.seed", "is a seed")
	}
	if limit := s.config.MaxDepth; limit != NoMaxDepth && depth > limit {
		return refuse("scope.depth", fmt.Sprintf("is at depth %d, and the crawl goes to %d", depth, limit))
	}
	kind := s.config.Kind
	if kind != Any {
		if _, ok := s.members[kind.member(u)]; !ok {
			return refuse("scope."+kind.String(), kind.outside(u))
		}
	}
	if len(s.include) > 0 {
		if _, ok := s.include.match(string(u)); !ok {
			return refuse("scope.include", "matches no include pattern")
		}
	}
	return take("scope."+kind.String(), kind.inside(u))
}

// Excludes reports whether an exclude pattern matches a URL, and counts that as a refusal.
func (s *Scope) Excludes(u page.URL) (d Decision, excluded bool) {
	if d, excluded = s.excluded(u); excluded {
		s.refused.count(d)
	}
	return d, excluded
}

func (s *Scope) excluded(u page.URL) (d Decision, excluded bool) {
	pattern, excluded := s.exclude.match(string(u))
	if excluded {
		d = refuse("scope.exclude", fmt.Sprintf("matches the exclude pattern %q", pattern))
	}
	return d, excluded
}

// Counts returns the refusals of Decide by rule, including rules without any.
func (s *Scope) Counts() map[string]int64 { return s.refused.counts() }

// patterns are RE2 expressions: matching takes time linear in the URL, whatever users
// write.
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

// match returns the first pattern that matches.
func (p patterns) match(s string) (source string, ok bool) {
	for _, re := range p {
		if re.MatchString(s) {
			return re.String(), true
		}
	}
	return "", false
}
