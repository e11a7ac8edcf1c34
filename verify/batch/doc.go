// Package batch computes the result of a set of fetches, as docs/semantics.md defines it in
// sections 2 to 7, in one plain pass: without transactions, increments or an order of arrival.
// `indexer verify` compares the repository with this result. So batch shares only two things
// with the observers: what a page is (package page), and how to solve the ranks of a whole
// graph (package rank), which the observers do only to break ties. It is simple, not fast.
//
// Add fetches to a Builder (Add), or the deciding documents of URLs if they are known
// (AddDecided), and call Finish.
package batch
