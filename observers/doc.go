// Package observers is the application: what happens to a page after it was loaded. An
// observer runs, in its own transaction, after a column that it watches has been written. It
// reads what has changed and writes what follows from it. The comment of each observer lists
// the columns it reads and writes, which observers it wakes, and why it misses no change.
//
//	loader ─▶ fetch:content ─▶ document ─┬▶ url:state ─▶ cluster ─▶ url:walk ─▶ spread ─┐
//	                                     │      ▲                                 weak │
//	                                     │      └──────────────────────────────────────┘
//	                                     └▶ doc:links ─▶ links ─▶ url:forward (weak) ─▶ forward
//
//	document, cluster, forward, rerank ─▶ index:dirty (weak) ─▶ index ─▶ index files
//	       index, for many inlinks ─▶ index:count (weak) ─▶ count ─▶ index files
//	             document, cluster ─▶ rank:push (weak) ─▶ rank
//	           rank, cluster, settle ─▶ index:ranked (weak) ─▶ rerank ─▶ index files
//	     rank, index, count, rerank ─▶ app:settle (weak) ─▶ settle
//	                        loader ─▶ fetch:refreshed (weak) ─▶ refresh ─▶ index files
//	   document, invalidate, render ─▶ render:wake (weak) ─▶ render ─▶ document
//	                       document ─▶ render:changed (weak) ─▶ invalidate
//
// The computations are in packages that know nothing about transactions: cluster follows
// chains and chooses canonical URLs, pagerank passes ranks on, document assembles index
// documents and compares lists of links. This package decides when that happens and at
// which snapshot: an observer reads, calls its core, and writes. [Options] lists all
// observers.
//
// # Why no update is missed
//
// Snapshot isolation allows write skew: a transaction that registers itself as a
// dependant of X and reads X, and one that changes X and looks for dependants, can
// both commit without having seen each other. So no transaction both registers and
// reads. Every dependence is set up in this order:
//
//  1. A transaction writes the edge (u depends on v) and commits.
//  2. A later transaction of u, woken by the first, reads v.
//  3. A transaction that changes v wakes another, later one, which looks for edges.
//
// Let E be the commit of the edge, R the start of u's read, and C the commit of a
// change of v. E < R. If C < R, u has seen the change. Otherwise E < R < C: the
// search for edges, which starts after C, finds the edge, and u reads again.
//
// Four things depend on this rule: chains, along the pointers (document, cluster, spread); the
// clusters of targets, along the links (links, forward, cluster); the index document, which reads
// members, links, text and time at one snapshot and is woken by every transaction that changes
// any of them; and rendered pages, where a comparison replaces the second read (render.go).
// document.go explains why a change of text or time wakes index without asking whether the page
// is shown.
//
// docs/observers.md explains this in more detail, and says what a crash at each point leaves.
package observers
