package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// The crawl learns, host by host, which query parameters make no difference: session
// ids, times, the page that a visitor came from. Otherwise it would fetch each page
// once for each of their values. What it learns affects discovery only: pages that were
// fetched stay, and are still revisited.
//
// Evidence is a pair of fetched URLs that differ in the value (or presence) of one
// parameter only, not counting parameters that are ignored already. After its first
// fetch, each URL is compared once with the first fetched URL that equals it without
// the parameter (schema.Variants).
//
//   - Equal content keys count for the parameter. It is ignored after enoughPairs pairs
//     with at least enoughContents different contents: a host that shows one error page
//     for everything must not teach that nothing matters. With a single content,
//     enoughAlone pairs are needed.
//   - Different content keys are a contradiction. The counts start over, the next
//     decision needs twice as many pairs, and after maxContradictions the parameter is
//     never ignored. If it was ignored, everything left out is queued again (relook.go).
//     All variants of that pair are fetched from then on, even if the parameter is
//     learned anew, and no longer count: one part of a site where the parameter matters,
//     or one page that always changes, is one contradiction.
//   - A difference counts only if the two fetches lie within sameTime of each other: the
//     page may have changed since.
//
// Only pages count as evidence, so neither a 404 nor a soft 404 does. The order in
// which pages come decides when a parameter is learned, but not whether, unless the
// evidence is contradictory.
//
// The state of a host is bounded: maxParameters names, maxFamilies rows for each
// undecided name, and one row for each page whose variants were left out.
// docs/decisions/0017-parameters.md has the alternatives.
const (
	enoughPairs       = 10
	enoughContents    = 3
	enoughAlone       = 32
	maxContradictions = 6
	maxParameters     = 64
	maxFamilies       = 1000
	maxSeen           = 40
	maxNameLength     = 64
	sameTime          = 24 * time.Hour
)

// parameters caches the parameters of hosts that a transaction has read and changed.
type parameters struct {
	tx    *txn.Txn
	hosts map[string]*hostParameters
}

func newParameters(tx *txn.Txn) *parameters {
	return &parameters{tx: tx, hosts: make(map[string]*hostParameters)}
}

type hostParameters struct {
	host    string
	list    []schema.Parameter
	ignored []string // their names, sorted
}

func (p *parameters) of(ctx context.Context, host string) (*hostParameters, error) {
	if h := p.hosts[host]; h != nil {
		return h, nil
	}
	v, err := p.tx.Get(ctx, host, schema.HostParameters)
	if err != nil {
		return nil, err
	}
	h := &hostParameters{host: host}
	if h.list, err = schema.DecodeParameters(v.Data); err != nil {
		return nil, fmt.Errorf("frontier: %s: %w", host, err)
	}
	h.sum()
	p.hosts[host] = h
	return h, nil
}

func (h *hostParameters) sum() {
	h.ignored = nil
	for _, x := range h.list {
		if x.Ignored {
			h.ignored = append(h.ignored, x.Name)
		}
	}
	slices.Sort(h.ignored)
}

func (p *parameters) write(h *hostParameters) error {
	h.sum()
	b, err := schema.EncodeParameters(h.list)
	if err == nil {
		p.tx.Set(h.host, schema.HostParameters, b)
	}
	return err
}

// find returns a parameter that may still be learned; nil if it is decided, or there is
// no room for another one.
func (h *hostParameters) find(name string) *schema.Parameter {
	i := slices.IndexFunc(h.list, func(x schema.Parameter) bool { return x.Name == name })
	switch {
	case i >= 0 && h.list[i].Contradictions >= maxContradictions:
		return nil
	case i >= 0:
		return &h.list[i]
	case len(h.list) >= maxParameters || len(name) > maxNameLength:
		return nil
	}
	h.list = append(h.list, schema.Parameter{Name: name})
	return &h.list[len(h.list)-1]
}

// observe learns from a page that was fetched for the first time.
func (p *parameters) observe(ctx context.Context, u page.URL, e schema.FrontierEntry, s schema.URLState) error {
	names := namesOf(u)
	if len(names) == 0 || e.Visits != 1 || s.Outcome != page.Page {
		return nil
	}
	h, err := p.of(ctx, crawler.HostOf(u))
	if err != nil {
		return err
	}
	ignored := h.ignored // as of now: what this page teaches applies to the next one
	seen := visited{url: u, entry: e, state: s}
	if slices.ContainsFunc(names, func(n string) bool { return slices.Contains(ignored, n) }) {
		if err := p.compare(ctx, h, seen, ignored, ""); err != nil {
			return err
		}
	}
	for _, name := range names {
		if slices.Contains(ignored, name) || h.find(name) == nil {
			continue
		}
		without := append(slices.Clone(ignored), name)
		slices.Sort(without)
		if err := p.compare(ctx, h, seen, without, name); err != nil {
			return err
		}
	}
	return nil
}

// visited is a URL with its entry and state.
type visited struct {
	url   page.URL
	entry schema.FrontierEntry
	state schema.URLState
}

// compare compares a page with the first one that equals it without some parameters:
// the ignored ones and the one that may be learned ("": none).
func (p *parameters) compare(ctx context.Context, h *hostParameters, u visited, without []string, learning string) error {
	row := variantRow(h.host, u.url, without)
	v, known, err := p.readVariants(ctx, row)
	if err != nil {
		return err
	}
	if !known {
		if learning != "" {
			x := h.find(learning)
			if x.Families >= maxFamilies {
				return nil
			}
			x.Families++
			if err := p.write(h); err != nil {
				return err
			}
		}
		p.tx.Set(row, schema.HostVariants, schema.Variants{First: u.url}.Encode())
		return nil
	}
	hash := uint32(xxhash.Sum64String(string(u.url)))
	if v.First == u.url || slices.Contains(v.Seen, hash) {
		return nil
	}
	first, err := readVisited(ctx, p.tx, v.First)
	if err != nil {
		return err
	}
	if first.state.Outcome != page.Page {
		v.First = u.url
		p.tx.Set(row, schema.HostVariants, v.Encode())
		return nil
	}
	same := first.state.Key == u.state.Key
	if !same && first.entry.Last.Sub(u.entry.Last).Abs() > sameTime || same && len(v.Seen) >= maxSeen {
		return nil
	}
	if len(v.Seen) < maxSeen {
		v.Seen = append(v.Seen, hash)
	}
	known = v.Differ
	v.Differ = v.Differ || !same
	p.tx.Set(row, schema.HostVariants, v.Encode())
	if known {
		return nil
	}
	return p.judge(h, first, u, without, learning)
}

// judge draws the conclusion from a pair.
func (p *parameters) judge(h *hostParameters, a, b visited, without []string, learning string) error {
	var differing []string
	for _, name := range without {
		if valueOf(a.url, name) != valueOf(b.url, name) {
			differing = append(differing, name)
		}
	}
	switch learns := learning != "" && slices.Contains(differing, learning); {
	case a.state.Key == b.state.Key && !learns:
		return nil
	case a.state.Key == b.state.Key:
		agree(h.find(learning), b.state.Key)
	case learns: // the ignored parameters have proved themselves
		p.contradict(h, learning)
	default:
		for _, name := range differing {
			p.contradict(h, name)
		}
	}
	return p.write(h)
}

// contradict takes back what was learned about a parameter.
func (p *parameters) contradict(h *hostParameters, name string) {
	x := h.find(name)
	if x == nil {
		return
	}
	if x.Ignored {
		p.tx.Delete(h.host, schema.HostRelookAt) // from the start
		p.tx.Notify(h.host, schema.HostRelook)
	}
	x.Contradictions++
	x.Pairs, x.Contents, x.Ignored = 0, nil, false
}

// The functions below know nothing about transactions.

// agree counts a pair with the same content.
func agree(x *schema.Parameter, key page.ContentKey) {
	x.Pairs++
	hash := uint32(xxhash.Sum64(key[:]))
	if len(x.Contents) < enoughContents && !slices.Contains(x.Contents, hash) {
		x.Contents = append(x.Contents, hash)
	}
	times := 1 << x.Contradictions
	x.Ignored = x.Pairs >= enoughPairs*times && len(x.Contents) >= enoughContents || x.Pairs >= enoughAlone*times
}

// namesOf lists the names of a URL's parameters, each once.
func namesOf(u page.URL) (names []string) {
	for part := range strings.SplitSeq(u.Query(), "&") {
		if name, _, _ := strings.Cut(part, "="); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// valueOf returns the parts of a URL's query with the given name; "" if there are none.
func valueOf(u page.URL, name string) (value string) {
	for part := range strings.SplitSeq(u.Query(), "&") {
		if n, _, _ := strings.Cut(part, "="); n == name {
			value += part + "&"
		}
	}
	return value
}

// withoutParameters removes some parameters from a URL.
func withoutParameters(u page.URL, names []string) page.URL {
	query := u.Query()
	if query == "" {
		return u
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(part, "="); !slices.Contains(names, name) {
			kept = append(kept, part)
		}
	}
	bare := strings.TrimSuffix(string(u), "?"+query)
	if len(kept) > 0 {
		bare += "?" + strings.Join(kept, "&")
	}
	return page.URL(bare)
}

func variantRow(host string, u page.URL, names []string) string {
	return schema.VariantRow(host, strings.Join(names, "&"), withoutParameters(u, names))
}
