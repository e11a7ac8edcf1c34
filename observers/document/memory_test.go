package document

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// memory is a cluster in memory, with the links to its members.
type memory struct {
	members map[string]page.URL              // by position
	links   map[page.URL]map[string][]string // anchors by target and source
	ranks   map[page.URL]float64
	ranked  int // how many ranks were asked for
	fetched time.Time
}

func newMemory() *memory {
	return &memory{members: make(map[string]page.URL), links: make(map[page.URL]map[string][]string), ranks: make(map[page.URL]float64)}
}

// member adds a member. Shorter URLs are preferred.
func (m *memory) member(u page.URL) { m.members[fmt.Sprintf("%03d %s", len(u), u)] = u }

// link replaces the links from one URL to another; without anchors it removes them.
func (m *memory) link(source, target page.URL, anchors ...string) {
	if m.links[target] == nil {
		m.links[target] = make(map[string][]string)
	}
	if m.links[target][string(source)] = anchors; anchors == nil {
		delete(m.links[target], string(source))
	}
}

func (m *memory) Members(_ context.Context, from string) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		for _, at := range slices.Sorted(maps.Keys(m.members)) {
			if at >= from && !yield(Member{at, m.members[at]}, nil) {
				return
			}
		}
	}
}

func (m *memory) Links(_ context.Context, target page.URL, from string) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for _, at := range slices.Sorted(maps.Keys(m.links[target])) {
			source := page.URL(at)
			l := Link{Place: Place{Link: at}, Source: source, Target: target, Anchors: m.links[target][at], OtherSite: source.Host() != target.Host()}
			if at >= from && !yield(l, nil) {
				return
			}
		}
	}
}

func (m *memory) IsMember(_ context.Context, u page.URL) (bool, error) {
	return slices.Contains(slices.Collect(maps.Values(m.members)), u), nil
}

func (m *memory) Rank(_ context.Context, u page.URL) (float64, error) {
	m.ranked++
	return m.ranks[u], nil
}

func (m *memory) Text(_ context.Context, u page.URL) (Text, error) {
	return Text{Title: "title of " + short(u), Text: "text", Language: "en"}, nil
}

func (m *memory) FetchedAt(context.Context, page.URL) (time.Time, error) { return m.fetched, nil }

// long and short leave out the scheme, which is the same for all.
func long(s string) page.URL  { return page.URL("https://" + s) }
func short(u page.URL) string { return strings.TrimPrefix(string(u), "https://") }

// damaged fails at a link, as a table does whose bytes were changed.
type damaged struct {
	*memory
	err error
}

func (d damaged) Links(ctx context.Context, target page.URL, from string) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for l := range d.memory.Links(ctx, target, from) {
			if !yield(l, nil) {
				return
			}
			yield(Link{}, d.err)
			return
		}
	}
}
