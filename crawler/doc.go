// Package crawler fetches what the frontier says is due, politely, and hands
// every fetch to a sink. It keeps in memory what concerns the hosts it is
// working on; what is to be fetched, and when, is the frontier's, in the store.
//
// It imports page and its own sub-packages only: frontier and sink are
// interfaces, implemented by packages frontier and repository.
package crawler
