// Package crawler fetches politely what the frontier says is due, and hands every fetch to
// the frontier and to a recorder. It keeps in memory only the state of the hosts on which
// it is working. The frontier, in the store, decides what to fetch and when.
//
// Of this project, it imports only page and its own sub-packages: Frontier, Fetcher and
// Recorder are interfaces, implemented by packages frontier, fetch and archive.
package crawler
