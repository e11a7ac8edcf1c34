// Package oracle is the timestamp oracle as a service of its own, for a table that several
// processes share (Percolator, OSDI 2010, section 2.3), with what stands in for Chubby:
// liveness tokens and advisory locks of rows (sections 2.2 and 2.4).
//
//	deadline.go   until when a promise holds, by the clock of this process
//	tokens.go     liveness tokens in the table; package oracle/etcd has them in etcd
//	term.go       the fence in the table: who may write the ceiling
//	oracle.go     hands out timestamps for as long as no other process can
//	candidate.go  becomes the oracle when the last one is dead
//	process.go    what processes report about themselves
//	pace.go       how fast timestamps are handed out
//	locks.go      advisory locks of rows, in the memory of the oracle
//	bury.go       removes the tokens of dead processes that no other process asks about
//	own.go        an oracle inside the only process that uses a table
//
// Package oracle/remote has the service's gRPC server and client.
//
// # Why no timestamp repeats or goes back
//
// Two mechanisms are needed, because each covers what the other cannot.
//
// The fence is in the table. The row of the oracle holds the number of the current term
// and the ceiling. An oracle begins a term under the guard that no later one has begun,
// and raises the ceiling under the same guard; then it reads the ceiling, and starts
// there. The guards and writes of a row are one atomic step, so once a term has begun no
// write of an earlier one is applied, however late it arrives. So no timestamp is handed
// out twice, whatever the clocks do.
//
// The lease keeps timestamps from going back: an oracle that was replaced still has a
// range in memory, below all timestamps of the next one. It may hand them out only while
// no other oracle can have replaced it. Liveness promises that (txn.Liveness): a
// candidate begins a term only after Alive has returned false for the last oracle's
// token, and from then on Valid fails in that oracle. So the oracle
//
//  1. takes the numbers, and
//  2. calls Valid, and refuses to hand them out if it fails.
//
// The order matters. The process may be stopped between any two instructions, for any
// time. If Valid succeeds, no other oracle had replaced this one when it took the numbers,
// however late the response reaches the caller: the caller's request was under way all the
// time, so its timestamp may lie anywhere in between. In the other order, a process stopped
// after Valid would take an old number after newer ones were handed out.
package oracle
