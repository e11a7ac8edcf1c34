// Package observers is the application: what happens to a page after it was
// loaded, one observer a file. Each file's head lists the columns it reads and
// writes, and why no change is missed.
//
//	loader ─▶ fetch:content ─▶ document ─▶ url:state ─▶ cluster ─▶ url:walk ─▶ spread ─┐
//	                              │            ▲                                       │ (weak)
//	                              │            └───────────────────────────────────────┘
//	                              └▶ doc:links ─▶ links ─▶ url:forward (weak) ─▶ forward
//	                                                                               │
//	            document, cluster, forward ─▶ index:dirty (weak) ─▶ index ─▶ index files
//	                                                                  ▲     (or tally ─▶ count)
//	 document, cluster ─▶ rank:push (weak) ─▶ rank ─▶ index:ranked (weak) ─▶ rerank ─▶ index files
//	                                                     (and cluster)
//
// # How a missed update is avoided
//
// Snapshot isolation allows write skew: a transaction that registers itself as a
// dependant of X and reads X, and one that changes X and looks for dependants,
// can both commit without having seen each other. So registering and reading
// are never one transaction. Every dependence is built in this order:
//
//  1. A transaction writes the edge (u depends on v) and commits.
//  2. A later transaction of u, woken by the first, reads v.
//  3. A transaction that changes v wakes another, later one, which looks for edges.
//
// Let E be the commit of the edge, R the start of u's read, C the commit of a
// change of v. E < R. If C < R, u has seen the change. Otherwise E < R < C: the
// search for edges, which starts after C, finds the edge, and u reads again.
//
// It is used three times: url:walk along the lead edges (document, cluster,
// spread), clusters of targets along the links (links, forward, cluster), and
// the index document, which reads members, links, text and time at one snapshot
// and is woken by everybody who changes any of them. (Text and time: document.go
// says why it does not ask first whether the page is shown.)
//
// docs/observers.md has the same with what a crash leaves at each point.
package observers
