package convert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// document is what was read of a PDF.
type document struct {
	title     string // of its properties
	language  string
	pages     [][]line
	bookmarks map[int][]bookmark // by page
}

// reader asks PDFium for a document.
type reader struct {
	pdf  pdfium.Pdfium
	body []byte
	doc  references.FPDF_DOCUMENT

	links int // so far
	size  int // of the text so far, in characters
}

func (r *reader) read() (*document, error) {
	opened, err := r.pdf.OpenDocument(&requests.OpenDocument{File: &r.body})
	if err != nil {
		return nil, whyUnopened(err)
	}
	r.doc = opened.Document
	n, err := r.pdf.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
	if err != nil {
		return nil, fault(err)
	}
	if n.PageCount == 0 {
		return nil, fmt.Errorf("%w: it has no pages", ErrDamaged)
	}
	d := &document{}
	if err := r.properties(d); err != nil {
		return nil, fault(err)
	}
	for i := range min(n.PageCount, maxPages) {
		lines, err := r.page(i)
		if isFault(err) {
			return nil, fault(err)
		}
		d.pages = append(d.pages, lines) // none of a page that cannot be read
		if r.size > maxHTML {
			break
		}
	}
	return d, nil
}

// properties reads what a document says about itself. Its errors are faults.
func (r *reader) properties(d *document) error {
	title, err := r.pdf.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: r.doc, Tag: "Title"})
	if isFault(err) {
		return err
	} else if err == nil {
		d.title = title.Value
	}
	if strings.TrimSpace(d.title) == "" {
		d.title = metadataTitle(r.body)
	}
	lang, err := r.pdf.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: r.doc})
	if isFault(err) {
		return err
	} else if err == nil {
		d.language = lang.Language
	}
	d.bookmarks, err = r.readBookmarks()
	return err
}

func whyUnopened(err error) error {
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return ErrEncrypted
	case isFault(err):
		return fault(err)
	case errors.Is(err, pdferrors.ErrFormat):
		return fmt.Errorf("%w: it does not have the structure of a PDF document", ErrDamaged)
	}
	return fmt.Errorf("%w: PDFium reports error %w", ErrDamaged, err)
}

// isFault reports whether PDFium did not end a call in the usual way. Its memory is unusable
// afterwards.
func isFault(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "wasm error") || strings.Contains(text, "panic occurred") || strings.Contains(text, "module closed")
}

// onlyFault returns a fault, and no other error: a document without its bookmarks or links is
// still worth reading.
func onlyFault(err error) error {
	if isFault(err) {
		return err
	}
	return nil
}

func fault(err error) error { return fmt.Errorf("%w: %.100s", ErrCrashed, firstLine(err.Error())) }

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
