package sitemap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/page"
)

// draft is an entry while its element is read.
type draft struct {
	name         xml.Name
	ref          string
	base         *page.Resolver
	fallback     string // absolute URL to take if ref is empty
	own          string // the entry's own text
	date         string
	line, column int
}

func (d *draft) found() bool { return d.ref != "" || d.own != "" || isAbsolute(d.fallback) }

func (x *xmlReader) beginEntry(t xml.StartElement) {
	line, column := x.decoder.InputPos()
	x.entry = &draft{name: t.Name, base: x.top().base, line: line, column: column}
	if x.dialect.about != "" {
		x.entry.fallback = trim(attr(t, "*", x.dialect.about))
	}
	x.depth = len(x.open)
	x.field = noRole
	x.text.Reset()
}

func (x *xmlReader) top() element { return x.open[len(x.open)-1] }

// beginField starts to collect the text of a child, including that of its descendants:
// <loc><url>...</url></loc> occurs.
func (x *xmlReader) beginField(t xml.StartElement) {
	x.endField()
	x.field = x.dialect.roleOf(t.Name, x.entry.name)
	if x.field == hrefRole {
		rel := strings.ToLower(trim(attr(t, "", "rel")))
		if x.entry.ref == "" && (rel == "" || rel == "alternate") {
			x.entry.ref, x.entry.base = trim(attr(t, "", "href")), x.top().base
		}
	}
}

// endField assigns the collected text to the entry. If several children give the same
// field, the first non-empty one counts.
func (x *xmlReader) endField() {
	text := trim(x.text.String())
	x.text.Reset()
	e := x.entry
	switch x.field {
	case noRole:
		setOnce(&e.own, text)
	case urlRole:
		setOnce(&e.ref, text)
	case fallbackRole:
		setOnce(&e.fallback, text)
	case dateRole:
		setOnce(&e.date, text)
	}
	x.field = noRole
}

func setOnce(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// endEntry adds the entry and reports whether to continue.
func (x *xmlReader) endEntry() bool {
	d := x.entry
	x.entry = nil
	u, err := x.url(d)
	if err != nil {
		x.problems.add(d.line, d.column, err)
		return true
	}
	e := Entry{URL: u}
	if x.dialect.kind == Index {
		e.Kind = SitemapEntry
	}
	if d.date != "" {
		if e.LastMod, err = parseTime(d.date); err != nil {
			x.problems.add(d.line, d.column, fmt.Errorf("%s: %w", u, err))
		}
	}
	return x.add(e, d.line, d.column)
}

func (x *xmlReader) url(d *draft) (page.URL, error) {
	ref := d.ref
	if ref == "" && isAbsolute(d.fallback) {
		ref = d.fallback
	}
	if ref == "" && x.dialect.bareText {
		ref = d.own
	}
	switch {
	case ref == "":
		return "", errNoURL
	case isAbsolute(ref):
		return x.absolute.Resolve(ref)
	case x.dialect.relative || ref[0] == '/':
		return d.base.Resolve(ref)
	}
	return "", fmt.Errorf("%q: %w", abbreviate(ref), errNotAbsolute)
}

var errNotAbsolute = errors.New("not an absolute http or https URL")

func isAbsolute(ref string) bool {
	const longest = len("https://")
	head := strings.ToLower(ref[:min(longest, len(ref))])
	return head == "https://" || strings.HasPrefix(head, "http://")
}

// trim drops white space of every kind, and the invisible characters that are pasted
// with URLs.
func trim(s string) string {
	return strings.Trim(strings.TrimSpace(s), " \t\r\n\u00a0\u200b\u2060\ufeff")
}
