package convert

import (
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// box is a rectangle on a page, with y growing upwards.
type box struct{ left, bottom, right, top float64 }

func (b box) middle() float64 { return (b.bottom + b.top) / 2 }

// line is a line of text on a page.
type line struct {
	box
	text   string
	links  []link
	height float64 // of its font
	// hyphen says that its last word continues in the next line, and that the hyphen was
	// removed.
	hyphen bool
}

// link is a part of a line, in bytes, that leads somewhere.
type link struct {
	from, to int
	target   string
}

// hyphen is what PDFium returns for a hyphen at the end of a line that divides a word.
const hyphen = 0x02

// page reads the lines of a page, in the order in which the page has them.
func (r *reader) page(index int) ([]line, error) {
	loaded, err := r.pdf.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: index})
	if err != nil {
		return nil, err
	}
	page := requests.Page{ByReference: &loaded.Page}
	text, err := r.pdf.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, err
	}
	lines, err := r.lines(page, text.TextPage)
	if err != nil {
		return nil, err
	}
	if _, err := r.pdf.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}); err != nil {
		return nil, err
	}
	_, err = r.pdf.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
	return lines, err
}

func (r *reader) lines(page requests.Page, text references.FPDF_TEXTPAGE) ([]line, error) {
	n, err := r.pdf.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil {
		return nil, err
	}
	areas, err := r.linkAreas(page)
	if err != nil {
		return nil, err
	}
	var lines []line
	l := lineReader{reader: r, text: text}
	for i := range min(n.Count, maxChars) {
		c, err := r.pdf.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		switch u := rune(min(c.Unicode, unicode.MaxRune)); u {
		case '\r', '\n', hyphen:
			if lines, err = l.end(lines, u == hyphen, areas); err != nil {
				return nil, err
			}
		default:
			l.add(i, u)
		}
	}
	return l.end(lines, false, areas)
}

// lineReader collects the characters of a line.
type lineReader struct {
	*reader
	text  references.FPDF_TEXTPAGE
	chars []char
}

type char struct {
	index int
	r     rune
}

// add adds a character. Signs of fonts that have no meaning in Unicode are left out.
func (l *lineReader) add(index int, u rune) {
	switch {
	case u == 0, u >= 0xfff0 && u <= 0xffff, unicode.In(u, unicode.Co, unicode.Cs):
		return
	case unicode.IsSpace(u), unicode.IsControl(u):
		u = ' '
		if len(l.chars) == 0 || l.chars[len(l.chars)-1].r == ' ' {
			return
		}
	}
	l.chars = append(l.chars, char{index, u})
}

// withoutLeaders removes the dots between the entries of a table of contents and their pages.
func withoutLeaders(chars []char) []char {
	const least = 4 // dots
	kept := chars[:0]
	for i := 0; i < len(chars); {
		dots, end := 0, i
		for end < len(chars) && (chars[end].r == '.' || chars[end].r == ' ') {
			if chars[end].r == '.' {
				dots++
			}
			end++
		}
		if dots >= least {
			chars[i].r = ' '
			kept = append(kept, chars[i])
			i = end
			continue
		}
		end = max(end, i+1)
		kept = append(kept, chars[i:end]...)
		i = end
	}
	return kept
}

// end ends the line and appends it, unless it is empty.
func (l *lineReader) end(lines []line, hyphen bool, areas []area) ([]line, error) {
	l.chars = withoutLeaders(l.chars)
	for n := len(l.chars); n > 0 && l.chars[n-1].r == ' '; n-- {
		l.chars = l.chars[:n-1]
	}
	if len(l.chars) == 0 {
		return lines, nil
	}
	first, err := l.box(l.chars[0].index)
	if err != nil {
		return nil, err
	}
	last, err := l.box(l.chars[len(l.chars)-1].index)
	if err != nil {
		return nil, err
	}
	next := line{
		box:    box{min(first.left, last.left), min(first.bottom, last.bottom), max(first.right, last.right), max(first.top, last.top)},
		height: first.top - first.bottom,
		hyphen: hyphen,
	}
	var b strings.Builder
	for _, c := range l.chars {
		b.WriteRune(c.r)
	}
	next.text = b.String()
	if next.links, err = l.linksOf(next.box, areas); err != nil {
		return nil, err
	}
	l.size += b.Len()
	l.chars = l.chars[:0]
	return append(lines, next), nil
}

// box returns where a character is. Its height is that of the font.
func (l *lineReader) box(index int) (box, error) {
	b, err := l.pdf.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: l.text, Index: index})
	if isFault(err) {
		return box{}, err
	} else if err != nil {
		return box{}, nil // a character without a place
	}
	return box{float64(b.Rect.Left), float64(b.Rect.Bottom), float64(b.Rect.Right), float64(b.Rect.Top)}, nil
}
