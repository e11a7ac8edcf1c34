package scope

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/webindexer/indexer/page"
)

// Traps finds URLs that probably belong to an endless set. It is safe for concurrent
// use.
//
// All rules except trap.queries look only at the URL. Trap.queries counts, for each
// site, the queries taken at its paths:
//
//  1. The count is a function of the set of URLs taken: order and repetition do not
//     matter. Once a path is full, only the queries that it counts exactly (32) are known
//     to have been taken; so check a URL once, when it is discovered, and keep the answer.
//  2. So the counts can be dropped, and are, when there are more than MaxSites. They are
//     rebuilt from the URLs that Taken returns. URLs that were taken but not stored yet may
//     be missing then: a few more get through.
//  3. Its memory is bounded, even for a single site, because paths are counted in a fixed
//     number of cells. Two paths share a count only if they share both their cells.
type Traps struct {
	config  TrapConfig
	sites   *siteCache
	refused tally
}

// Taken returns the URLs of a site (as page.URL.Site writes it) that were taken before,
// with or without a query, in any order. It may include refused ones; they are counted
// as well, so that slightly more is refused.
type Taken func(ctx context.Context, site string) iter.Seq2[page.URL, error]

// NewTraps makes Traps. If taken is nil, every site starts at zero.
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

// Check decides about u, counts a refusal, and remembers u if it is taken. An error
// wraps one of Taken or ctx; nothing was decided then.
//
// It is for URLs that were discovered. Do not check seeds: the user asked for them by
// name.
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

// Counts returns the refusals of Check by rule, including rules without any.
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
