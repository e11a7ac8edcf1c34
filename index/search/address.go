package search

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"

	"github.com/webindexer/indexer/page"
)

// A query that is an address, as copied from a browser, asks for that page. The addresses of other
// pages also have all its words, and a site has many pages with the words of its front page. So the
// page itself comes first, with either scheme, with or without "www." and a slash at the end.

// If the query is the address of a page, addAddressed adds that page, as a front page that the query
// names.
func (s *search) addAddressed(ctx context.Context, t *tier) error {
	urls := addressesOf(s.c.Text)
	if len(urls) == 0 {
		return nil
	}
	pages, err := s.from.among(ctx, s.matching(s.c.Expr(t.breadth)), urls, s.opts.Weights)
	if err != nil || len(pages) == 0 {
		return err
	}
	s.putFront(t, slices.MinFunc(pages, func(a, b candidate) int {
		return slices.Index(urls, string(a.url)) - slices.Index(urls, string(b.url))
	}))
	return nil
}

// addressesOf returns the addresses that a query may mean, the most likely one first, or none if
// the query is not an address. "array.sort" is not one, because no host ends like that.
func addressesOf(text string) (urls []string) {
	text = strings.TrimSpace(text)
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "https", text
	}
	if strings.ContainsFunc(text, unicode.IsSpace) || !found && !isHost(rest) {
		return nil
	}
	schemes := []string{"https", "http"}
	switch strings.ToLower(scheme) {
	case "https":
	case "http":
		slices.Reverse(schemes)
	default:
		return nil
	}
	bare := strings.TrimPrefix(rest, "www.")
	for _, path := range []string{rest, bare, "www." + bare} {
		for _, scheme := range schemes {
			u, err := page.ParseURL(scheme + "://" + path)
			if err != nil {
				return nil
			}
			for _, address := range []string{string(u), otherSlash(u)} {
				if !slices.Contains(urls, address) {
					urls = append(urls, address)
				}
			}
		}
	}
	return urls
}

// otherSlash returns an address with a slash at the end if it has none, and without it if it has
// one. A query and the root stay as they are.
func otherSlash(u page.URL) string {
	address := string(u)
	if u.Path() == "/" || strings.Contains(address, "?") {
		return address
	}
	if without, ok := strings.CutSuffix(address, "/"); ok {
		return without
	}
	return address + "/"
}

// isHost reports whether an address without a scheme begins with a host of the internet.
func isHost(address string) bool {
	host, _, _ := strings.Cut(strings.ToLower(address), "/")
	suffix, known := publicsuffix.PublicSuffix(host)
	return known && suffix != host
}
