// Package crawler politely fetches what the frontier says is due, and hands every fetch
// to the frontier and a recorder. It keeps in memory only the state of the hosts it is
// working on. The frontier, in the store, decides what to fetch and when.
//
// It imports page and its own sub-packages only: Frontier, Fetcher and Recorder are
// interfaces, implemented by packages frontier, fetch and archive.
package crawler
