// Package batch computes the result of a set of fetches, according to semantics.md
// sections 2 to 7, in one plain pass: without transactions, increments or an order of
// arrival. "indexer verify" compares the repository with its result. So it shares only
// two things with the observers: what a page is (package page), and how to solve the
// ranks of a whole graph (package rank), which the observers do only to break ties. It
// prefers simplicity to speed.
//
// Add fetches to a Builder (Add), or the deciding documents of URLs if they are known
// (AddDecided), and call Finish.
package batch
