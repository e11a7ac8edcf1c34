// Package page defines URLs, fetches, documents and links, and turns a fetched body into
// a document (docs/semantics.md, sections 1 to 3). It is a leaf of the import graph.
//
// The observers and the batch verifier both rely on this package. So it has no state, and
// makes no decision that depends on other URLs.
package page
