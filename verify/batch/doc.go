// Package batch computes what a set of fetches means, by the text of
// semantics.md sections 2 to 7, in one plain pass: no transactions, no
// increments, no order of arrival. It is the second opinion that "indexer
// verify" holds the repository against, so it shares with the observers what a page is
// (page) and how the ranks of a whole graph are solved (rank), which they do only where
// two are too near to each other, and nothing else. It prefers the obvious to the fast.
//
// Feed a Builder with fetches (Add), or with what is already known to decide
// for each URL (AddDecided), and Finish it.
package batch
