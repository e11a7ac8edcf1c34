package index

import (
	"context"
	"slices"

	"indexer/index/query"
)

// At most so many results of one host among the first ten: a host that has a page on
// everything would fill the page with its own. What is over the number is moved to
// just below the first ten, in its order, and counted on the host's last hit above
// (more_from_host); nothing is lost, and the pages of a result still are parts of one list.
//
// Where the best rerankTop are of too few hosts for a first page, the best of other hosts are asked for
// beside them, if they are worth it (leastShare). The number gives way where there are none, so that the first page is full
// whenever ten documents match; with site: it does not hold at all. It never moves a
// document with some of the words above one with all of them: the first tier is spread by itself, the second
// into the places that are left, and what the first shows of a host counts.

// firstPage is how many hits are spread. It does not depend on the page asked for.
const firstPage = 10

// leastShare is how much of the score of the best document that was moved one of another host must
// have that was not among the best rerankTop: with less it is on the page for its host only.
const leastShare = 0.25

// diversify moves what is over perHost below the first page, of the best rerankTop. Where
// these do not fill it, documents of more follow, which are of other hosts. above are those of the tier before,
// fewer than a page, on whose last of a host more of it are told where the list has none on the page.
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

// countHosts is how many documents each host has.
func countHosts(list []candidate) map[string]int {
	count := make(map[string]int)
	for i := range list {
		count[hostOf(list[i].url)]++
	}
	return count
}

// otherHosts are the best documents that are not of the hosts that crowd the best rerankTop,
// nor of their subdomains; nothing if these fill a first page, or there is nothing else.
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

// dominantHosts are those with more than perHost of above and the best rerankTop, if these do not fill
// a first page with perHost of each.
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

// tellMore counts the displaced documents of each host on its last hit of the first page, which are those of
// above, and then first.
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
