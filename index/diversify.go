package index

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/index/query"
)

// At most perHost of the first ten results come from one host: otherwise a host that has a
// page on everything would fill the first page. Results above that number move to just
// below the first ten, in their order, and are counted on the host's last hit above
// (more_from_host). Nothing is lost, and the pages of a result are still parts of one list.
//
// If the best rerankTop documents come from too few hosts to fill the first page, the best
// documents of other hosts are added to them, if their scores are worth it (leastShare). If
// there are none, the limit gives way, so that the first page is full whenever ten
// documents match. With site: there is no limit. A document with some of the words never
// moves above one with all of them: the first tier is diversified by itself, the second
// into the places that are left, and the hosts shown by the first tier count.

// firstPage is how many hits are diversified. It does not depend on the requested page.
const firstPage = 10

// leastShare is the share of the score of the best displaced document that a document of
// another host needs, if it was not among the best rerankTop. With less, it would be on the
// page only for its host.
const leastShare = 0.25

// diversify moves the documents above the limit of their host below the first page, among
// the best rerankTop. If these do not fill the page, documents of more follow, which are of
// other hosts. above is the tier before, with fewer documents than a page. If list has no
// document of a host on the page, the host's last document in above is the one that counts
// the displaced ones.
func diversify(above, list, more []candidate, perHost int) []candidate {
	top := list[:min(len(list), rerankTop)]
	shown := countHosts(above) // host → how many are on the first page
	places := firstPage - len(above)
	first := make([]candidate, 0, len(top))
	var displaced, rest []candidate
	for _, c := range top {
		host := hostOf(c.url)
		switch {
		case len(first) == places:
			rest = append(rest, c)
		case shown[host] < perHost:
			shown[host]++
			first = append(first, c)
		default:
			displaced = append(displaced, c)
		}
	}
	spread := len(first)
	for _, c := range more {
		if len(displaced) > 0 && c.score < leastShare*displaced[0].score {
			break
		}
		if host := hostOf(c.url); len(first) < places && shown[host] < perHost {
			shown[host]++
			first = append(first, c)
		}
	}
	tail := without(slices.Clone(list[len(top):]), first[spread:])
	missing := min(max(places-len(first), 0), len(displaced))
	first = append(first, displaced[:missing]...)
	displaced = displaced[missing:]
	tellMore(above, first, displaced)
	out := append(append(first, displaced...), rest...)
	return append(out, tail...)
}

// countHosts counts the documents of each host.
func countHosts(list []candidate) map[string]int {
	count := make(map[string]int)
	for i := range list {
		count[hostOf(list[i].url)]++
	}
	return count
}

// otherHosts is the best documents that are not of the hosts that dominate the best
// rerankTop, nor of their subdomains. It is empty if these fill a first page, or if there
// is nothing else.
func (s *search) otherHosts(ctx context.Context, b query.Breadth, above, found []candidate, total int) ([]candidate, error) {
	hosts := dominantHosts(above, found, s.opts.PerHost)
	if len(hosts) == 0 || total <= rerankTop {
		return nil, nil
	}
	c := s.c.Without(hosts)
	more, _, err := s.byText(ctx, c.Expr(b), anchorTop)
	if err != nil {
		return nil, err
	}
	more = without(without(more, found[:min(len(found), rerankTop)]), above)
	for i := range more {
		more[i].allWords = b == query.AllWords
	}
	return more, s.rerank(ctx, more)
}

// dominantHosts are the hosts with more than perHost documents in above and the best
// rerankTop, if these do not fill a first page with perHost of each.
func dominantHosts(above, found []candidate, perHost int) (hosts []string) {
	count, spread := countHosts(above), len(above)
	for _, c := range found[:min(len(found), rerankTop)] {
		host := hostOf(c.url)
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

// tellMore counts the displaced documents of each host on its last hit of the first page,
// which is above followed by first.
func tellMore(above, first, displaced []candidate) {
	more := countHosts(displaced)
	for _, list := range [][]candidate{first, above} {
		for i := range slices.Backward(list) {
			host := hostOf(list[i].url)
			list[i].moreFromHost = more[host]
			delete(more, host)
		}
	}
}
