// Package loader writes fetches into the repository: one transaction for each.
// What the transaction writes wakes the observers; the loader itself interprets
// nothing (but to break a tie, decide.go).
//
// It holds to semantics.md section 2: of the fetches of a URL that brought a
// payload and did not fail, the newest by fetch time decides, whatever the order
// in which they arrive. A fetch that says the same as the one in force renews
// its time, in a column that nobody observes.
//
//	writes   fetch:time, fetch:content, body:body of the fetch in force;
//	         fetch:seen (newest revisit), fetch:failure (newest failure)
//	wakes    document (fetch:content), and only when something is new
package loader
