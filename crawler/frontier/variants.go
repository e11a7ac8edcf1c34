package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Among URLs that differ only in ignored parameters, the first known one is fetched,
// and the rest are left out. If the URL without the parameters is known, it is the
// first. Otherwise that URL is never used, because it may not exist.
//
// What was learned may be wrong for a page not seen yet: t makes no difference on
// /clock and all the difference on /viewtopic. So some variants are still fetched, as
// checks. A check with different content takes back what was learned:
//
//   - up to two checks for each page whose variants are left out, where one page links to
//     several variants at once: it has a reason to;
//   - one variant in checkOneIn, by its hash, up to maxChecks.
//
// Targets of redirects and of rel=canonical are always fetched.
const (
	maxChecks  = 4
	checkOneIn = 1024
)

// ParameterRule is the rule that leaves out URLs that differ from another only in
// parameters that make no difference.
const ParameterRule = "parameter.ignored"

// verdict is what to do with a URL that was found.
type verdict uint8

const (
	takeURL  verdict = iota
	checkURL         // fetch it to check that its content is the same
	leaveURL
)

// sort decides about a URL that may be one of several variants. several reports whether
// the page that links to it also links to other variants.
func (p *parameters) sort(ctx context.Context, u page.URL, several bool) (verdict, page.URL, error) {
	h, err := p.of(ctx, crawler.HostOf(u))
	if err != nil || !h.ignores(u) {
		return takeURL, "", err
	}
	row := variantRow(h.host, u, h.ignored)
	v, known, err := p.readVariants(ctx, row)
	if err != nil {
		return takeURL, "", err
	}
	was := v.Encode()
	if !known {
		if v.First, err = p.firstOf(ctx, u, h.ignored); err != nil {
			return takeURL, "", err
		}
	}
	result := takeURL
	switch {
	case v.First == u, v.Differ:
	case v.Checks < maxChecks && xxhash.Sum64String(string(u))%checkOneIn == 0, v.Checks < 2 && several:
		v.Checks++
		result = checkURL
	default:
		if v.Spare == "" {
			v.Spare = u
		}
		result = leaveURL
	}
	if now := v.Encode(); !slices.Equal(was, now) {
		p.tx.Set(row, schema.HostVariants, now)
	}
	return result, v.First, nil
}

// firstOf returns the URL without the parameters if the frontier has it, or else u.
func (p *parameters) firstOf(ctx context.Context, u page.URL, ignored []string) (page.URL, error) {
	bare := withoutParameters(u, ignored)
	e, known, err := ReadEntry(ctx, p.tx, bare)
	if err != nil || !known || e.State == schema.EntryRefused {
		return u, err
	}
	return bare, nil
}

// ignores reports whether a URL has a parameter that is ignored.
func (h *hostParameters) ignores(u page.URL) bool {
	return len(h.ignored) > 0 && slices.ContainsFunc(namesOf(u), func(name string) bool { return slices.Contains(h.ignored, name) })
}

func (p *parameters) readVariants(ctx context.Context, row string) (v schema.Variants, known bool, err error) {
	stored, err := p.tx.Get(ctx, row, schema.HostVariants)
	if err != nil || !stored.Exists {
		return v, false, err
	}
	v, err = schema.DecodeVariants(stored.Data)
	return v, true, err
}

func readVisited(ctx context.Context, tx *txn.Txn, u page.URL) (v visited, err error) {
	v.url = u
	if v.entry, _, err = ReadEntry(ctx, tx, u); err != nil {
		return v, err
	}
	state, err := tx.Get(ctx, schema.URLRow(u), schema.State)
	if err == nil && state.Exists {
		v.state, err = schema.DecodeURLState(state.Data)
	}
	return v, err
}

// replace has another variant fetched in place of the first one, which is gone.
func (p *parameters) replace(ctx context.Context, u page.URL, e schema.FrontierEntry) error {
	h, err := p.of(ctx, crawler.HostOf(u))
	if err != nil || !h.ignores(u) {
		return err
	}
	row := variantRow(h.host, u, h.ignored)
	v, known, err := p.readVariants(ctx, row)
	if err != nil || !known || v.First != u || v.Spare == "" {
		return err
	}
	spare := v.Spare
	v.First, v.Spare = spare, ""
	p.tx.Set(row, schema.HostVariants, v.Encode())
	old, known, err := ReadEntry(ctx, p.tx, spare)
	switch {
	case err != nil:
		return err
	case !known:
		put(p.tx, spare, nil, schema.FrontierEntry{Depth: e.Depth, Source: e.Source, Note: "new", Kept: true})
	case old.Lapsed:
		resume(p.tx, spare, old, "takes the place of a page that is gone")
	}
	p.tx.Notify(h.host, schema.HostReady)
	return nil
}

// severalOf finds the URLs of a page's links that are variants of each other.
func (p *parameters) severalOf(ctx context.Context, groups []schema.TargetLinks) (map[page.URL]bool, error) {
	rows := make(map[string]page.URL)
	several := make(map[page.URL]bool)
	for _, g := range groups {
		if g.Target.Query() == "" {
			continue
		}
		h, err := p.of(ctx, crawler.HostOf(g.Target))
		if err != nil {
			return nil, err
		}
		if !h.ignores(g.Target) {
			continue
		}
		row := variantRow(h.host, g.Target, h.ignored)
		if other, found := rows[row]; found {
			several[other], several[g.Target] = true, true
		}
		rows[row] = g.Target
	}
	return several, nil
}

// undecided reports whether jobs contains variants that were queued before their
// parameter was learned, and need a decision.
func (p *parameters) undecided(ctx context.Context, host string, jobs []crawler.Job) (bool, error) {
	h, err := p.of(ctx, host)
	if err != nil || len(h.ignored) == 0 {
		return false, err
	}
	for _, j := range jobs {
		r, ok := j.Ref.(ref)
		if !ok || !mayLapse(&r.entry) || !h.ignores(j.URL) {
			continue
		}
		v, _, err := p.readVariants(ctx, variantRow(host, j.URL, h.ignored))
		if err != nil || v.First != j.URL && !v.Differ {
			return true, err
		}
	}
	return false, nil
}

// why says why a URL is left out. The URL is the subject of the sentence.
func (p *parameters) why(u, first page.URL) string {
	h := p.hosts[crawler.HostOf(u)]
	var names []string
	for _, name := range h.ignored {
		if valueOf(u, name) != valueOf(first, name) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("differs from %s in %s only, which makes no difference on this host", first, strings.Join(names, ", "))
}

// explain says which parameters cause a URL to be left out; "" if none do.
func (p *parameters) explain(ctx context.Context, u page.URL) (string, error) {
	h, err := p.of(ctx, crawler.HostOf(u))
	if err != nil || !h.ignores(u) {
		return "", err
	}
	v, known, err := p.readVariants(ctx, variantRow(h.host, u, h.ignored))
	if err != nil || !known || v.First == u || v.Differ {
		return "", err
	}
	return p.why(u, v.First), nil
}
