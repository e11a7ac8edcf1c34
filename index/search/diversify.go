package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// A host that has a page on everything would fill the first page. So after perHost hits of a
// host, each further one counts only furtherShare of its score there: a hit of another host that
// fits nearly as well comes before it. A hit that fits far worse does not, so a query that only
// one host can answer gets a page of that host.
//
// Hits below the first page keep their order. Nothing is lost, and the pages of a result are parts
// of one list. The last hit of a host on the first page counts the hits of the host that were
// moved below it (more_from_host).
//
// If the best rerankTop documents come from too few hosts, the best documents of other hosts compete
// with them (otherHosts). With site: there is no limit. A document with some of the words never
// moves above one with all of them: the second tier gets the places that the first one leaves, and
// the hits of the first one count for their hosts.
//
// Hits that say little besides what a hit above says move below the first page (littlenew.go), also
// with site:, unless there are no others.

// firstPage is how many hits are diversified, whatever page is requested.
const firstPage = 10

// A hit counts furtherShare of its score if perHost hits of its host are already on the first
// page (docs/ranking-experiments.md).
const furtherShare = 0.8

// diversify chooses the first page from the best rerankTop of list and from more, which has
// documents of other hosts. What it does not choose follows in the order of list, which rest continues.
// above is the tier before; it may fill the page. If perHost is 0, there is no limit. With
// lowerRepeated, documents that say little new also move below the page.
func diversify(above, list, rest, more []candidate, perHost int, lowerRepeated bool) []candidate {
	p := hostPage{above: above, perHost: perHost, shown: countHosts(above)}
	for i := range min(len(list), rerankTop) {
		p.found = append(p.found, &list[i])
	}
	for i := range more {
		p.found = append(p.found, &more[i])
	}
	slices.SortStableFunc(p.found, func(a, b *candidate) int { return cmp.Compare(b.placed(), a.placed()) })
	p.fill(lowerRepeated)
	if perHost > 0 {
		p.tellMore()
	}
	return append(p.first, without(slices.Concat(list, rest), p.first)...)
}

// hostPage is a first page that is being filled.
type hostPage struct {
	above   []candidate    // the hits on the page from the tier before
	first   []candidate    // the hits that follow
	found   []*candidate   // the documents to choose from, best first; nil: on the page, or says little new
	shown   map[string]int // host → how many are on the page
	perHost int
	moved   map[string]int // host → how many a hit on the page has overtaken
}

// fill chooses the hits on the page.
func (p *hostPage) fill(lowerRepeated bool) {
	var repeated []*candidate
	last := 0 // of found, on the page
	for len(p.above)+len(p.first) < firstPage {
		i := p.next()
		if i < 0 {
			break
		}
		c := p.found[i]
		p.found[i] = nil
		if lowerRepeated {
			c.repeats = c.repeated(p.above, p.first)
		}
		if c.repeats != "" {
			repeated = append(repeated, c)
			continue
		}
		p.shown[c.host()]++
		p.first = append(p.first, *c)
		last = max(last, i)
	}
	p.moved = make(map[string]int)
	for _, c := range p.found[:last] {
		if c != nil {
			p.moved[c.host()]++
		}
	}
	room := max(firstPage-len(p.above)-len(p.first), 0)
	for _, c := range repeated[:min(len(repeated), room)] {
		p.first = append(p.first, *c)
	}
}

// next returns the document for the next place, or -1 if there is none: the best document of the
// hosts below their limits, or the best of the other hosts if furtherShare of its score is more.
func (p *hostPage) next() int {
	over := -1
	for i, c := range p.found {
		switch {
		case c == nil:
		case p.perHost > 0 && p.shown[c.host()] >= p.perHost:
			if over < 0 {
				over = i
			}
		case over >= 0 && furtherShare*p.found[over].placed() > c.placed():
			return over
		default:
			return i
		}
	}
	return over
}

// tellMore sets, on the last hit of each host on the page, the number of the host's moved
// documents.
func (p *hostPage) tellMore() {
	for _, list := range [][]candidate{p.first, p.above} {
		for i := range slices.Backward(list) {
			host := list[i].host()
			list[i].moreFromHost = p.moved[host]
			delete(p.moved, host)
		}
	}
}

// countHosts counts the documents of each host.
func countHosts(list []candidate) map[string]int {
	count := make(map[string]int)
	for i := range list {
		count[list[i].host()]++
	}
	return count
}

// otherHosts returns the best documents that are not of the hosts that dominate the best
// rerankTop, nor of their subdomains. It returns none if these fill a first page, or if
// there is nothing else.
func (s *search) otherHosts(ctx context.Context, t *tier, best []candidate) ([]candidate, error) {
	hosts := dominantHosts(t.above, best, s.opts.PerHost)
	if len(hosts) == 0 || t.total <= rerankTop {
		return nil, nil
	}
	c := s.c.Without(hosts)
	more, _, err := s.byText(ctx, c.Expr(t.breadth), anchorTop)
	if err != nil {
		return nil, err
	}
	more = without(without(more, best[:min(len(best), rerankTop)]), t.above)
	for i := range more {
		more[i].allWords = t.breadth == query.AllWords
	}
	return more, s.rerank(ctx, more)
}

// dominantHosts returns the hosts with more than perHost documents in above and the best
// rerankTop, if these do not fill a first page with perHost of each.
func dominantHosts(above, found []candidate, perHost int) (hosts []string) {
	count, spread := countHosts(above), len(above)
	for _, c := range found[:min(len(found), rerankTop)] {
		host := c.host()
		switch count[host]++; {
		case count[host] <= perHost:
			spread++
		case !slices.Contains(hosts, host):
			hosts = append(hosts, host)
		}
	}
	if spread >= firstPage {
		return nil
	}
	return hosts
}

// HostOf returns the host by which results are counted: without www.
func HostOf(u page.URL) string { return strings.TrimPrefix(u.Host(), "www.") }
