package convert

import (
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// bookmark is an entry of the table of contents that viewers show next to a document.
type bookmark struct {
	title string // only its letters and digits
	depth int
}

// readBookmarks returns the bookmarks by the page that they lead to.
func (r *reader) readBookmarks() (map[int][]bookmark, error) {
	w := bookmarkWalk{reader: r, found: make(map[int][]bookmark)}
	return w.found, w.children(nil, 0)
}

type bookmarkWalk struct {
	*reader
	found map[int][]bookmark
	seen  int // a chain of bookmarks may have no end
}

func (w *bookmarkWalk) children(of *references.FPDF_BOOKMARK, depth int) error {
	if depth >= maxDepth {
		return nil
	}
	first, err := w.pdf.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: w.doc, Bookmark: of})
	if err != nil {
		return onlyFault(err)
	}
	for b := first.Bookmark; b != nil && w.seen < maxBookmarks; {
		w.seen++
		if err := w.note(*b, depth); err != nil {
			return err
		}
		if err := w.children(b, depth+1); err != nil {
			return err
		}
		next, err := w.pdf.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: w.doc, Bookmark: *b})
		if err != nil {
			return onlyFault(err)
		}
		b = next.Bookmark
	}
	return nil
}

func (w *bookmarkWalk) note(b references.FPDF_BOOKMARK, depth int) error {
	title, err := w.pdf.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: b})
	if err != nil {
		return onlyFault(err)
	}
	dest, err := w.pdf.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: w.doc, Bookmark: b})
	if err != nil || dest.Dest == nil {
		return onlyFault(err)
	}
	page, err := w.pdf.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: w.doc, Dest: *dest.Dest})
	if err != nil {
		return onlyFault(err)
	}
	if name := letters(title.Title); name != "" {
		w.found[page.Index] = append(w.found[page.Index], bookmark{name, depth})
	}
	return nil
}

// letters returns the letters and digits of a text, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
