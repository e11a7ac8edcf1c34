package loader

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// PDF documents are read when they are loaded, and the text, or the reason why there is none,
// is stored with the fetch. So the meaning of a fetch is a function of what is stored. A
// load reads a document at most once, outside the transaction, and only if its fetch will be
// in force and the same body was not read before.

// PDFReader reads PDF documents. pdf.Reader is one.
type PDFReader interface {
	// Version is the version of the reader, from 1.
	Version() int
	// Read returns a document as HTML in UTF-8. An error of type pdf.Unreadable is the
	// document's fault.
	Read(ctx context.Context, body []byte) (html []byte, err error)
}

// errUnread means that a document has to be read before its fetch can be written.
var errUnread = errors.New("the document has not been read")

// reading is the result of reading a document.
type reading struct {
	page.Reading
	result []byte
}

// read reads the document. It returns an error if no document can be read.
func (p *prepared) read(ctx context.Context, pdfs PDFReader) error {
	result, err := pdfs.Read(ctx, p.loaded.Body)
	unreadable, failed := errors.AsType[pdf.Unreadable](err)
	switch {
	case failed:
		result = []byte(unreadable)
	case err != nil:
		return err
	}
	p.reading = &reading{page.Reading{Version: pdfs.Version(), Failed: failed, Sum: sha256.Sum256(result)}, result}
	return nil
}

// matchPDF makes a PDF document a page or not, by the current setting of the repository, like
// matchOffice. now is the fetch that this one replaces. The error is errUnread if the document
// has to be read first.
func (p *prepared) matchPDF(ctx context.Context, tx *txn.Txn, pdfs PDFReader, now stored) error {
	if !p.loaded.IsPDF() {
		return nil
	}
	setting, err := schema.PDFFormat.Read(ctx, tx)
	if err != nil {
		return err
	}
	if pdfs == nil || !setting.Holds() {
		p.become(page.Reading{}, p.loaded.Body, false)
		return nil
	}
	if _, err := tx.GetForUpdate(ctx, schema.AppRow, schema.PDF); err != nil {
		return err
	}
	known, err := p.knownReading(now, pdfs.Version())
	switch {
	case err != nil:
		return err
	case known.Exists():
		p.become(known, nil, true)
	case p.reading == nil:
		return errUnread
	default:
		p.become(p.reading.Reading, p.reading.result, false)
	}
	return nil
}

// knownReading returns what was read when the same body was loaded before.
func (p *prepared) knownReading(now stored, version int) (r page.Reading, err error) {
	if !now.exists() || p.stamp.Sum != now.stamp.Sum {
		return r, nil
	}
	f, _, err := schema.DecodeContent(now.content)
	if err == nil && f.IsPDF() && f.Reading.Version >= version {
		r = f.Reading
	}
	return r, err
}

// become gives the fetch a reading, or takes it away. adopted says whether its body is already
// stored.
func (p *prepared) become(r page.Reading, body []byte, adopted bool) {
	if p.fetch.Reading == r && p.adopted == adopted {
		return
	}
	f := *p.loaded
	f.Reading, f.Body = r, body
	p.replace(f)
	p.adopted = adopted
}
