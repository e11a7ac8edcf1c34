package index

import (
	"net/url"
	"strings"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/page"
)

// maxHitSections bounds the sections of a hit.
const maxHitSections = 4

// showText sets what a hit shows of the text: the snippet, and the sections whose headings
// have words of the query that the title lacks.
//
// Only headings are compared. Comparing the texts of sections would analyse every text
// again, and a passage in the middle of a section is what the snippet is for.
func showText(h *search.Hit, outline, head []byte, more bool, c *query.Query, repeated func(slot uint16) bool) error {
	text, parts, err := headOf(outline, head, more)
	if err != nil {
		return err
	}
	m := snippet.NewMatcher(c.Terms, h.Language)
	h.Snippet = snippet.Make(snippet.Source{Title: h.Title, Text: text, More: more, Main: parts.Main, Repeated: repeated}, m)
	sections, titles := headingsIn(text, parts.Sections)
	for i, found := range snippet.Headings(h.Title, titles, m) {
		if i == maxHitSections {
			break
		}
		fragment := url.URL{Fragment: sections[found.Place].ID}
		h.Sections = append(h.Sections, search.Section{URL: string(h.URL) + "#" + fragment.EscapedFragment(), Title: titles[found.Place], Answers: i == 0 && found.Complete})
	}
	return nil
}

// headingsIn returns the sections whose headings lie in the head of a text, and those headings.
func headingsIn(head string, sections []page.Section) (in []page.Section, titles []string) {
	for _, s := range sections {
		if s.Title.End > len(head) {
			break
		}
		in = append(in, s)
		titles = append(titles, strings.ToValidUTF8(strings.TrimSpace(head[s.Title.Start:s.Title.End]), "\uFFFD"))
	}
	return in, titles
}

// duplicates returns the stored members of a cluster, without the canonical URL.
func duplicates(members []byte, canonical page.URL) ([]page.URL, error) {
	var all []page.URL
	if err := fromJSON(members, &all); err != nil {
		return nil, err
	}
	others := []page.URL{}
	for _, u := range all {
		if u != canonical {
			others = append(others, u)
		}
	}
	return others, nil
}
