package web

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/page"
)

// How many characters of a page's text are shown. A title may have megabytes.
const (
	maxTitle  = 160
	maxAnchor = 120
	maxShown  = 300 // of a URL
)

// maxMarks is how many combining marks in a row are shown. UTS #39, section 5.4, calls more
// than four suspicious: piled up, they cover the lines above and below.
const maxMarks = 4

// clean makes text from the web harmless when it is shown as text. html/template
// escapes markup; clean handles what escaping leaves:
//
//   - it removes characters that change the direction of writing, with which a title
//     could reverse the words around it (the pages also wrap each text in <bdi>);
//   - it removes combining marks after the fourth in a row;
//   - it replaces control characters, including null bytes, and line separators by
//     spaces;
//   - it replaces invalid UTF-8 by U+FFFD.
//
// It keeps at most n characters, and reads no further than it needs to.
func clean(s string, n int) string {
	var b strings.Builder
	left, marks := n, 0
	for _, r := range s {
		marks = marksUpTo(r, marks)
		switch {
		case marks > maxMarks, unicode.Is(unicode.Bidi_Control, r), r == '\uFEFF':
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			r = ' '
		}
		if left == 0 {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		b.WriteRune(r)
		left--
	}
	return strings.TrimSpace(b.String())
}

// marksUpTo returns the number of combining marks in a row that ends with r; before is the
// number before r. Format characters between them are not seen.
func marksUpTo(r rune, before int) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return before + 1
	case unicode.Is(unicode.Cf, r):
		return before
	}
	return 0
}

// bounded cuts text to at most n bytes, at a character boundary.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// piece is a part of a snippet. Mark is set on words of the query.
type piece struct {
	Text string
	Mark bool
}

// pieces splits a snippet at its marks and cleans each part.
func pieces(s snippet.Snippet) []piece {
	var list []piece
	add := func(text string, mark bool) {
		if text != "" {
			list = append(list, piece{cleanPart(text), mark})
		}
	}
	at := 0
	for _, m := range s.Marks {
		add(s.Text[at:m.Start], false)
		add(s.Text[m.Start:m.End], true)
		at = m.End
	}
	add(s.Text[at:], false)
	return list
}

// cleanPart cleans a part of a text. Spaces at its ends separate it from its neighbours, so they
// stay.
func cleanPart(text string) string {
	c := clean(text, len(text))
	if strings.HasPrefix(text, " ") {
		c = " " + c
	}
	if c != " " && strings.HasSuffix(text, " ") {
		c += " "
	}
	return c
}

// href returns a URL that is safe in a link. page.ParseURL accepts only http and https;
// for anything else, javascript: above all, href returns "".
func href(u page.URL) string {
	parsed, err := page.ParseURL(string(u))
	if err != nil {
		return ""
	}
	return string(parsed)
}

// crumbs returns the parts of a URL's path for people to read, the last one with the query,
// unescaped where that gives valid text.
func crumbs(u page.URL) []string {
	var list []string
	parts := strings.Split(strings.Trim(u.Path(), "/"), "/")
	if q := u.Query(); q != "" {
		parts[len(parts)-1] += "?" + q
	}
	for _, part := range parts {
		if part != "" {
			if plain, err := url.PathUnescape(part); err == nil && utf8.ValidString(plain) {
				part = plain
			}
			list = append(list, clean(part, 60))
		}
	}
	if len(list) > 4 {
		list = append(append(list[:2:2], "…"), list[len(list)-1])
	}
	return list
}
