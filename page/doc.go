// Package page is the leaf of the import graph: what a URL, a fetch, a document
// and a link are, and how a fetched body becomes a document (design contract:
// semantics.md sections 1 to 3).
//
// The observers and the batch verifier share this package and nothing else, so
// it holds no state and makes no decision that depends on other URLs.
package page
