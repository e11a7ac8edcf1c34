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
// A result is only moved for one that has at least leastShare of its score: a page that
// fits far worse is no better for its host. If the best rerankTop documents come from too few hosts to fill the first page, the best
// documents of other hosts are added to them, if their scores are worth it (leastShare). If
// there are none, the limit gives way, so that the first page is full whenever ten
// documents match. With site: there is no limit. A document with some of the words never
// moves above one with all of them: the first tier is diversified by itself, the second
// into the places that are left, and the hosts shown by the first tier count.
//
// Results that say little besides what a result above says move as well (littlenew.go), also with
// site:, unless there are no others.

// firstPage is how many hits are diversified. It does not depend on the requested page.
const firstPage = 10

// leastShare is the share of the score of the best displaced document that a document of
// another host needs, if it was not among the best rerankTop. With less, it would be on the
// page only for its host. The value is the result of queries for tuning (docs/ranking-experiments.md).
const leastShare = 0.7

// diversify moves the documents above the limit of their host below the first page, among
// the best rerankTop of list. If these do not fill the page, documents of more follow, which
// are of other hosts. A document stays if no document of another host is worth its place.
// above is the tier before, with fewer documents than a page. If list has no document of a
// host on the page, the host's last document in above is the one that counts the displaced
// ones. rest is what comes after list in any case. perHost 0 is no limit.
// With lowerRepeated, documents that say little new move, too.
func diversify(above, list, rest, more []candidate, perHost int, lowerRepeated bool) []candidate {
	top := list[:min(len(list), rerankTop)]
	shown := countHosts(above) // host → how many are on the first page
	places := firstPage - len(above)
	first := make([]candidate, 0, len(top))
	var displaced, repeated, below []candidate
	for i, c := range top {
		host := c.host()
		if lowerRepeated && len(first) < places {
			c.repeats = c.repeated(above, first)
		}
		switch {
		case len(first) == places:
			below = append(below, c)
		case c.repeats != "":
			repeated = append(repeated, c)
		case perHost == 0 || shown[host] < perHost || len(displaced) == 0 && !worth(c.placed(), shown, perHost, top[i+1:], more):
			shown[host]++
			first = append(first, c)
		default:
			displaced = append(displaced, c)
		}
	}
	spread := len(first)
	for _, c := range more {
		if len(displaced) > 0 && c.placed() < leastShare*displaced[0].placed() {
			break
		}
		if host := c.host(); len(first) < places && shown[host] < perHost {
			shown[host]++
			first = append(first, c)
		}
	}
	tail := without(slices.Concat(list[len(top):], rest), first[spread:])
	displaced = append(displaced, repeated...)
	missing := min(max(places-len(first), 0), len(displaced))
	first = append(first, displaced[:missing]...)
	displaced = displaced[missing:]
	if perHost > 0 {
		tellMore(above, first, displaced)
	}
	out := append(append(first, displaced...), below...)
	return append(out, tail...)
}

// worth reports whether a document of a host that is not at its limit is worth the place of
// one with this score.
func worth(score float64, shown map[string]int, perHost int, lists ...[]candidate) bool {
	for _, list := range lists {
		for i := range list {
			if c := &list[i]; c.placed() >= leastShare*score && shown[c.host()] < perHost {
				return true
			}
		}
	}
	return false
}

// countHosts counts the documents of each host.
func countHosts(list []candidate) map[string]int {
	count := make(map[string]int)
	for i := range list {
		count[list[i].host()]++
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

// tellMore counts the displaced documents of each host on its last hit of the first page,
// which is above followed by first.
func tellMore(above, first, displaced []candidate) {
	more := countHosts(displaced)
	for _, list := range [][]candidate{first, above} {
		for i := range slices.Backward(list) {
			host := list[i].host()
			list[i].moreFromHost = more[host]
			delete(more, host)
		}
	}
}
