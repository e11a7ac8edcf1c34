package scope

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"indexer/page"
)

// Traps finds URLs that are likely one of endlessly many. It is safe for
// concurrent use.
//
// All rules but trap.queries look at the URL alone. Trap.queries keeps count, for
// each site, of the queries taken at its paths:
//
//  1. What is counted is a function of the set of URLs taken: order and
//     repetition do not matter. Once a path is full, only what it counts exactly (32
//     queries) is known to have been taken; so a URL is to be checked once, when it is
//     discovered, and the answer kept.
//  2. So the counts can be forgotten, and are, when there are more than MaxSites;
//     they are rebuilt from the URLs that Taken gives. URLs taken and not yet stored
//     where Taken finds them may be missed then: a few more get through.
//  3. Its memory is bounded, for a site too, by counting paths in a fixed number
//     of cells. Two paths share a count only if they share both their cells.
type Traps struct {
	config  TrapConfig
	sites   *siteCache
	refused tally
}

// Taken gives the URLs of a site (as page.URL.Site writes it) that were taken
// before, those without query or with one, in any order. Refused ones may be
// among them and are counted as well, which refuses a little more.
type Taken func(ctx context.Context, site string) iter.Seq2[page.URL, error]

// NewTraps makes Traps. Without taken (nil) every site begins at nothing.
func NewTraps(config TrapConfig, taken Taken) (*Traps, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Traps{
		config: config,
		sites:  newSiteCache(config.MaxSites, taken),
		refused: newTally("trap.length", "trap.segments", "trap.repeated-segments", "trap.repeated-parameters",
			"trap.session", "trap.calendar", "trap.queries"),
	}, nil
}

// Check decides upon u, counts a refusal, and remembers u as taken if it is. The
// error is one of Taken's, wrapped, or ctx's; then nothing was decided.
//
// It is for URLs that were discovered. Seeds should not be checked: the user
// asked for them by name.
func (t *Traps) Check(ctx context.Context, u page.URL) (Decision, error) {
	d, err := t.decide(ctx, u, true)
	if err != nil {
		return Decision{}, err
	}
	return t.refused.count(d), nil
}

// Explain is Check without counting or remembering.
func (t *Traps) Explain(ctx context.Context, u page.URL) (Decision, error) {
	return t.decide(ctx, u, false)
}

// Counts are the refusals of Check by rule, rules without any included.
func (t *Traps) Counts() map[string]int64 { return t.refused.counts() }

func (t *Traps) decide(ctx context.Context, u page.URL, remember bool) (Decision, error) {
	path, query := u.Path(), u.Query()
	for _, rule := range []func(u page.URL, path, query string) (Decision, bool){
		t.length, t.segments, t.sameParameter, t.session, t.calendar,
	} {
		if d, found := rule(u, path, query); found {
			return d, nil
		}
	}
	if query != "" {
		return t.queries(ctx, u, remember)
	}
	return none, nil
}

var none = take("trap.none", "looks like no trap")

func (t *Traps) length(u page.URL, _, _ string) (Decision, bool) {
	if limit := t.config.MaxLength; limit > 0 && len(u) > limit {
		return refuse("trap.length", fmt.Sprintf("is %d bytes long, more than %d", len(u), limit)), true
	}
	return Decision{}, false
}

func (t *Traps) segments(_ page.URL, path, _ string) (Decision, bool) {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	if limit := t.config.MaxSegments; limit > 0 && len(segments) > limit {
		return refuse("trap.segments", fmt.Sprintf("has %d path segments, more than %d", len(segments), limit)), true
	}
	if limit := t.config.MaxBlockCopies; limit > 0 {
		if block, n := repeatedBlock(segments, limit); n > 0 {
			return refuse("trap.repeated-segments", fmt.Sprintf("has %q %d times in a row in its path", block, n)), true
		}
	}
	if limit := t.config.MaxSameSegment; limit > 0 {
		if segment, n := tooFrequent(segments, limit); n > 0 {
			return refuse("trap.repeated-segments", fmt.Sprintf("has the segment %q %d times in its path", segment, n)), true
		}
	}
	return Decision{}, false
}

func (t *Traps) sameParameter(_ page.URL, _, query string) (Decision, bool) {
	if limit := t.config.MaxSameParameter; limit > 0 && query != "" {
		if parameter, n := tooFrequent(strings.Split(query, "&"), limit); n > 0 {
			return refuse("trap.repeated-parameters", fmt.Sprintf("has %q %d times in its query", parameter, n)), true
		}
	}
	return Decision{}, false
}
