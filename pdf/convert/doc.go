// Package convert turns PDF documents into HTML, from which package page takes title, text and
// links as from any page.
//
// PDFium reads the documents. It is compiled to WebAssembly, so it computes the same on every
// machine, and reaches no files, no network and no memory but its own. This package turns
// PDFium's characters, positions and links into lines, paragraphs and headings.
//
// What the package keeps of a document is bounded by counts; a document beyond a bound is cut
// there. The time that PDFium takes is not bounded here: package pdf runs this package in a
// child process and kills the child that takes too long.
package convert

import "github.com/webindexer/indexer/pdf"

// Bounds of one document.
const (
	maxHTML      = 4 << 20
	maxPages     = 5000
	maxChars     = 200_000 // of one page
	maxLinks     = 10_000  // of one document
	maxBookmarks = 2000
	maxDepth     = 16   // of bookmarks
	maxTitle     = 1000 // bytes
	// maxMemory is what PDFium can have at a time, in pages of WebAssembly: 512 MiB.
	maxMemory = 512 << 20 / (64 << 10)
)

// Why a document has no HTML.
const (
	// ErrEncrypted reports a document that cannot be read without a password.
	ErrEncrypted pdf.Unreadable = "it is encrypted"
	// ErrDamaged reports a document that PDFium does not recognise as one.
	ErrDamaged pdf.Unreadable = "it is damaged"
	// ErrCrashed reports a document whose reading ended in a fault of PDFium, for example
	// because it needs more memory than PDFium may have.
	ErrCrashed pdf.Unreadable = "reading it ended in a fault, or needed too much memory"
)
