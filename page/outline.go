package page

import (
	"encoding/binary"
	"errors"
)

// Outline is what the markup of a page says about its text, beyond the text itself. Ranking,
// snippets and the pages of the server use it. No key and no digest of the contract depends
// on it.
type Outline struct {
	// Main is the main content: ascending ranges of Document.Text that do not touch. The
	// rest is navigation, headers, footers and lists of contents. Nil means that nothing
	// tells them apart, so that all of the text is main content.
	Main []Range
	// Sections are the parts of the main content that a URL with a fragment leads to.
	Sections []Section
	// Alternates are the same page in other languages, as its hreflang attributes say.
	Alternates []Alternate
}

// Range is a half-open range of bytes of a text, on character boundaries.
type Range struct{ Start, End int }

// Section begins at a heading, or at a term of a list of definitions, that has an id.
type Section struct {
	ID    string // for the fragment of a URL, not escaped
	Title Range  // the heading, in the text of the page
	Level int    // 1 to 6 for h1 to h6, 7 for a term
}

// Alternate is a translation of a page. It may be the page itself.
type Alternate struct {
	Language string // lower-case BCP 47 tag
	URL      URL
}

// Bounds of an Outline. Of more sections and alternates the first ones count; more ranges
// than that are joined where the gaps are shortest.
const (
	MaxMainRanges = 64
	MaxSections   = 512
	MaxAlternates = 100
	maxSectionID  = 200 // bytes
	maxHeading    = 200 // bytes
	termLevel     = 7
)

// Encode returns the stored form of an outline, "" if it says nothing. Equal outlines have
// equal forms.
func (o *Outline) Encode() string {
	if len(o.Main)+len(o.Sections)+len(o.Alternates) == 0 {
		return ""
	}
	b := binary.AppendUvarint(nil, uint64(len(o.Main)))
	at := 0
	for _, r := range o.Main {
		b = appendRange(b, r, at)
		at = r.End
	}
	b = binary.AppendUvarint(b, uint64(len(o.Sections)))
	at = 0
	for _, s := range o.Sections {
		b = append(appendRange(b, s.Title, at), byte(s.Level))
		b = appendText(b, s.ID)
		at = s.Title.End
	}
	b = binary.AppendUvarint(b, uint64(len(o.Alternates)))
	for _, a := range o.Alternates {
		b = appendText(appendText(b, a.Language), string(a.URL))
	}
	return string(b)
}

// appendRange appends a range as its distance from a place before it, and its length.
func appendRange(b []byte, r Range, at int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.Start-at)), uint64(r.End-r.Start))
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errOutline = errors.New("page: stored outline of a page cannot be read")

// DecodeOutline decodes the outline of a text with this many bytes. It refuses ranges that
// are not in the text.
func DecodeOutline(s string, textLen int) (Outline, error) {
	if s == "" {
		return Outline{}, nil
	}
	d := outlineReader{rest: s}
	var o Outline
	at := 0
	for range d.number(MaxMainRanges) {
		r := d.textRange(at, textLen)
		o.Main, at = append(o.Main, r), r.End
	}
	at = 0
	for range d.number(MaxSections) {
		r := d.textRange(at, textLen)
		o.Sections = append(o.Sections, Section{Title: r, Level: d.number(termLevel), ID: d.text()})
		at = r.End
	}
	for range d.number(MaxAlternates) {
		o.Alternates = append(o.Alternates, Alternate{Language: d.text(), URL: URL(d.text())})
	}
	if d.failed || d.rest != "" {
		return Outline{}, errOutline
	}
	return o, nil
}

// outlineReader reads an encoded outline. After a failure everything it reads is zero.
type outlineReader struct {
	rest   string
	failed bool
}

// number reads a number, and fails above the limit.
func (d *outlineReader) number(limit int) int {
	v, shift := uint64(0), 0
	for i := 0; i < len(d.rest) && shift < 63; i++ {
		c := d.rest[i]
		v |= uint64(c&0x7f) << shift
		if shift += 7; c < 0x80 {
			if v > uint64(limit) {
				break
			}
			d.rest = d.rest[i+1:]
			return int(v)
		}
	}
	d.rest, d.failed = "", true
	return 0
}

func (d *outlineReader) textRange(at, textLen int) Range {
	start := at + d.number(textLen-at)
	return Range{start, start + d.number(textLen-start)}
}

func (d *outlineReader) text() string {
	n := d.number(len(d.rest))
	if n > len(d.rest) {
		d.rest, d.failed = "", true
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}
