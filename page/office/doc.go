// Package office turns office documents into HTML, from which package page takes title,
// text and links as from any page.
//
// It reads WordprocessingML, PresentationML and SpreadsheetML (ISO/IEC 29500: docx, pptx,
// xlsx) and OpenDocument text, presentations and spreadsheets (ISO/IEC 26300: odt, odp,
// ods). All of them are ZIP archives with XML files in them.
//
// # Hostile files
//
// The documents come from strangers, and observers, verify and package web read them in their
// own process. So no function recurses as deep as a file nests, and everything that is read or
// kept is bounded in bytes, entries or levels, never in time. The same bytes therefore give the
// same HTML on every machine, however busy it is. A document beyond a bound is cut there, so
// searches still find its beginning. A damaged or encrypted document has no HTML at all.
//
// encoding/xml does not expand entities that a document declares, and loads nothing from
// anywhere. Macros, embedded objects and pictures are never opened.
package office

import (
	"errors"
	"fmt"
)

// Kind is a family of formats that are read alike.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Word
	Slides
	Sheet
	OpenDocument
)

const (
	openXML      = "application/vnd.openxmlformats-officedocument."
	openDocument = "application/vnd.oasis.opendocument."
)

var kinds = map[string]Kind{
	openXML + "wordprocessingml.document":   Word,
	openXML + "wordprocessingml.template":   Word,
	openXML + "presentationml.presentation": Slides,
	openXML + "presentationml.slideshow":    Slides,
	openXML + "presentationml.template":     Slides,
	openXML + "spreadsheetml.sheet":         Sheet,
	openXML + "spreadsheetml.template":      Sheet,
	openDocument + "text":                   OpenDocument,
	openDocument + "text-template":          OpenDocument,
	openDocument + "presentation":           OpenDocument,
	openDocument + "presentation-template":  OpenDocument,
	openDocument + "spreadsheet":            OpenDocument,
	openDocument + "spreadsheet-template":   OpenDocument,
}

// KindOf returns the kind of a media type without parameters, in lower case; None if it is
// not that of an office document that this package reads.
func KindOf(mediaType string) Kind { return kinds[mediaType] }

// Bounds of one document.
const (
	maxEntries = 10_000  // files in the archive
	maxToken   = 1 << 20 // bytes of one XML token: a tag with its attributes, or a text
	maxDepth   = 256     // open elements
	maxShared  = 8 << 20 // bytes of a workbook's shared strings
	maxListed  = 20_000  // relations of a part, styles, slides, sheets
	maxTarget  = 4096    // bytes of the target of a relation, and of the instruction of a field
)

// bounds are those at which a document is cut.
type bounds struct {
	xml    int // bytes of XML that are read, of all files together
	tokens int // tags and texts in them
	html   int // bytes of HTML
}

// usual are enough for the text of a book of a thousand pages. A million tokens take about a
// second.
var usual = bounds{xml: 24 << 20, tokens: 1 << 20, html: 4 << 20}

// Why a document has no HTML.
var (
	// ErrEncrypted reports a document that cannot be read without a password.
	ErrEncrypted = errors.New("the document is encrypted")
	// ErrDamaged reports a document that is not what its media type says.
	ErrDamaged = errors.New("the document is damaged")
)

// errFull ends the reading of a document at a bound; what was read until then counts.
var errFull = errors.New("a bound of the document is reached")

// HTML returns a document as HTML in UTF-8. It keeps no reference to body. The errors wrap
// ErrEncrypted or ErrDamaged.
func HTML(k Kind, body []byte) ([]byte, error) { return usual.read(k, body) }

func (b bounds) read(k Kind, body []byte) ([]byte, error) {
	w := &writer{max: b.html}
	a, err := openArchive(body, w, b)
	if err != nil {
		return nil, err
	}
	switch k {
	case Word:
		err = a.word()
	case Slides:
		err = a.slides()
	case Sheet:
		err = a.sheets()
	case OpenDocument:
		err = a.openDocument()
	default:
		err = fmt.Errorf("%w: unknown kind %d", ErrDamaged, k)
	}
	if isDamage(err) {
		return nil, err
	}
	return w.finish(), nil
}
