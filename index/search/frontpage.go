package search

import (
	"cmp"
	"context"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// # Front pages
//
// A user who types the name of a site wants the site: its front page, and not one of the
// thousand pages that have the name in their titles. The name of a site is in its host. If the
// query has more words, the name says what these words are about, unless the front page has them
// in its title ("tool 1.2 documentation").
//
// Among the directories of a host that have other candidates, the front page is at the one with the
// fewest directories in its address. So it is also found where a site begins at /en/1.2/. The front
// page may not be a candidate itself, because all pages of the site have the words of the query.
//
// Rejected: the page of the host with the greatest rank. A shard would sort all documents of a
// site, which may be a million.

const (
	// frontHosts is how many hosts are examined, in the order of their best candidates.
	frontHosts = 3
	// frontAddresses is how many addresses of a host are looked up, the shortest first.
	frontAddresses = 40
	// frontWords is the greatest number of words of a query that names a site.
	frontWords = 6
	// frontLetters is the least length of a word that matches only the beginning of a name.
	frontLetters = 3
)

// The first label of a host may say what is there, and not whose it is.
var placeLabels = analysis.WordSet("api dev developer developers doc docs documentation help learn manual support wiki")

// In a host, one of these may follow the name: "reactjs", "golang".
var nameEndings = analysis.WordSet("app db docs foundation framework hq io js lang org project projects")

// Words of a query that say only that the user means a site.
var siteWords = analysis.WordSet("home homepage official page site web website www")

// hostLabels returns the labels of a host before its public suffix: "docs" and "widget"
// of docs.widget.org. An IP address has no name, and stays whole.
func hostLabels(host string) []string {
	host = strings.ToLower(host)
	if isAddress(host) {
		return []string{host}
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i] // a port
	}
	suffix, _ := publicsuffix.PublicSuffix(host)
	if name, ok := strings.CutSuffix(host, "."+suffix); ok {
		host = name
	}
	return strings.Split(host, ".")
}

// isAddress reports whether a host is an IP address, with a port or without one.
func isAddress(host string) bool {
	_, alone := netip.ParseAddr(strings.Trim(host, "[]"))
	_, withPort := netip.ParseAddrPort(host)
	return alone == nil || withPort == nil
}

// namesSite reports whether words name the site of a host. rest has the words that the title of
// its front page must also have.
func namesSite(words []query.Word, host string) (rest []query.Word, ok bool) {
	if len(words) > frontWords {
		return nil, false
	}
	from, to, ok := nameIn(words, host)
	if !ok {
		return nil, false
	}
	labels := hostLabels(host)
	for i, w := range words {
		if (i < from || i >= to) && !siteWords[w.Typed] && !slices.Contains(labels, w.Typed) {
			rest = append(rest, w)
		}
	}
	return rest, true
}

// nameIn finds the words that are the name of a host.
func nameIn(words []query.Word, host string) (from, to int, ok bool) {
	labels := hostLabels(host)
	name := labels[0]
	if placeLabels[name] && len(labels) > 1 {
		name = labels[1]
	}
	return findName(words, name)
}

// findName finds neighbouring words that are a name: "git scm" or "git" for git-scm.
func findName(words []query.Word, name string) (from, to int, ok bool) {
	bare := strings.NewReplacer("-", "", "_", "").Replace(name)
	for from = range words {
		joined := ""
		for to = from + 1; to <= len(words); to++ {
			if joined += words[to-1].Typed; joined == bare || to == from+1 && slices.Contains(words[from].Stems, bare) {
				return from, to, true
			}
		}
	}
	for from, w := range words {
		end, begins := strings.CutPrefix(name, w.Typed)
		if begins && len(w.Typed) >= frontLetters && (strings.HasPrefix(end, "-") || nameEndings[end]) {
			return from, from + 1, true
		}
	}
	return 0, 0, false
}

// addFrontPages marks the front pages of the sites that the query names, and adds those that are
// not candidates yet.
func (s *search) addFrontPages(ctx context.Context, t *tier) error {
	named := s.namedSites(t.found[:t.top])
	if len(named) == 0 {
		return nil
	}
	var urls []string
	for host := range named {
		urls = append(urls, frontCandidates(host, t.found[:t.top])...)
	}
	pages, err := s.from.among(ctx, s.matching(s.c.Expr(t.breadth)), urls, s.opts.Weights)
	if err != nil {
		return err
	}
	if t.breadth == query.AllWords && !s.opts.Verbatim && slices.ContainsFunc(s.c.Words, func(w query.Word) bool { return siteWords[w.Typed] }) {
		if pages, err = s.withoutSiteWords(ctx, pages, urls); err != nil {
			return err
		}
	}
	slices.SortFunc(pages, func(a, b candidate) int { return byDepth(a.url, b.url) })
	for i := range pages {
		host := HostOf(pages[i].url)
		words, wanted := named[host]
		delete(named, host) // the others are below this one
		if wanted && titleHas(&pages[i], words) {
			s.putFront(t, pages[i])
		}
	}
	return nil
}

// withoutSiteWords adds pages without all the words to the pages that have them: few front pages
// say that they are one.
func (s *search) withoutSiteWords(ctx context.Context, pages []candidate, urls []string) ([]candidate, error) {
	if err := s.markCommon(ctx); err != nil {
		return nil, err
	}
	s.fill = query.SomeWords
	some, err := s.from.among(ctx, s.matching(s.c.Expr(query.SomeWords)), urls, s.opts.Weights)
	for _, c := range without(some, pages) {
		c.partial = true
		pages = append(pages, c)
	}
	return pages, err
}

// putFront moves a front page, from wherever it is among the found documents, behind the other
// documents that take part in the ranking. Its text counts as much as the best: a front page says
// little, and has the name no more often than other pages do.
func (s *search) putFront(t *tier, c candidate) {
	at := slices.IndexFunc(t.found, func(o candidate) bool { return o.id == c.id })
	switch {
	case at >= 0:
		c = t.found[at]
		t.found = slices.Delete(t.found, at, at+1)
		if at < t.top {
			t.top--
		}
	case c.partial:
		s.fronts++
	}
	c.front = true
	for i := range t.found[:t.top] {
		c.text = max(c.text, t.found[i].text)
	}
	t.add([]candidate{c})
}

// namedSites returns the hosts of candidates that the query names, each with the words that the
// title of its front page must have.
func (s *search) namedSites(list []candidate) map[string][]query.Word {
	named := make(map[string][]query.Word)
	for host := range hostsOf(list) {
		if words, ok := namesSite(s.c.Words, host); ok {
			if named[host] = words; len(named) == frontHosts {
				break
			}
		}
	}
	return named
}

// hostsOf yields the hosts of candidates, each once.
func hostsOf(list []candidate) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := make(map[string]bool)
		for i := range list {
			host := HostOf(list[i].url)
			if !seen[host] && !yield(host) {
				return
			}
			seen[host] = true
		}
	}
}

// frontCandidates returns the addresses at which the front page of a host may be: the root, and
// the directories in which candidates are. A page that is only a directory of its own, as
// /legal/ may be, is not the front page of the others.
func frontCandidates(host string, list []candidate) []string {
	holds := make(map[page.URL]bool) // of each directory, whether other pages are in it
	pages := 0
	for i := range list {
		if HostOf(list[i].url) != host {
			continue
		}
		pages++
		path, _, _ := strings.Cut(string(list[i].url), "?")
		for dir := range directories(path) {
			holds[page.URL(dir)] = holds[page.URL(dir)] || path != dir && path != dir+"index.html"
		}
	}
	var dirs []page.URL
	for dir, other := range holds {
		if other || pages == 1 || dir.Path() == "/" {
			dirs = append(dirs, dir)
		}
	}
	slices.SortFunc(dirs, byDepth)
	var urls []string
	for _, dir := range dirs[:min(len(dirs), frontAddresses/2)] {
		urls = append(urls, string(dir), string(dir)+"index.html")
	}
	return urls
}

// directories returns the directories of an address without a query, the root first.
func directories(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := strings.Index(path, "://") + len("://"); ; {
			slash := strings.IndexByte(path[at:], '/')
			if slash < 0 {
				return
			}
			if at += slash + 1; !yield(path[:at]) {
				return
			}
		}
	}
}

// byDepth orders addresses by the number of their directories. Of addresses with the same
// depth, the shortest comes first.
func byDepth(a, b page.URL) int {
	return cmp.Or(
		cmp.Compare(strings.Count(string(a), "/"), strings.Count(string(b), "/")),
		cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// titleHas reports whether the title of a page has all of these words.
func titleHas(c *candidate, words []query.Word) bool {
	if len(words) == 0 {
		return true
	}
	title := nameWords(c.title, c.language)
	for _, w := range words {
		if !slices.ContainsFunc(title, func(t nameWord) bool { return t.typed == w.Typed || slices.Contains(w.Stems, t.stem) }) {
			return false
		}
	}
	return true
}
