// Package txn implements Percolator's transactions (Peng & Dabek, OSDI 2010, sections
// 2.2 and 2.3): snapshot isolation over many rows of a store.Table.
//
//	table, _ := badgerdb.Open(dir, txn.Groups("accounts"), badgerdb.Options{})
//	db, _ := txn.Open(ctx, table, txn.Options{})
//	commit, err := db.Run(ctx, func(tx *txn.Txn) error { // again after a conflict
//		v, err := tx.Get(ctx, "bob", balance)
//		…
//		tx.Set("bob", balance, less)
//		tx.Set("joe", balance, more)
//		return nil
//	})
//
// The examples show the paper's Figure 2; docs/building-on-it.md continues with
// observers.
//
// # Files
//
// The files follow the paper's pseudo-code (its Figure 6):
//
//	oracle.go    GetTimestamp: strictly increasing, persisted in ranges
//	txn.go       Transaction, Set, Delete: writes are buffered
//	snapshot.go  Get: look for a lock, then the newest write below the start timestamp
//	forupdate.go a read that locks, against write skew
//	scan.go      Get for a range of rows
//	prewrite.go  first phase: lock every cell, primary first
//	commit.go    the two phases, and the work after the commit point
//	primary.go   the commit point
//	onephase.go  the shortcut for an engine that holds all rows
//	resolve.go   the lock of another transaction: wait, roll forward or roll back
//	liveness.go  decides whether the owner of a lock is alive
//	coordination.go  several processes on one table
//	gc.go        removes versions that no reader can see (not in the paper); pin.go
//	gcshared.go  the same if several processes read
//	trigger.go   acknowledgements and the removal of notifications (section 2.4)
//
// # Columns
//
// The store holds a Percolator column c as these columns (Figure 5 of the paper),
// all in the row of the cell; column.go encodes them:
//
//	group of c   w c @commit   committed: start timestamp, and the value if it is short
//	             d c @start    the value, if it is not in the write record
//	             r c @start    the transaction with this start timestamp was rolled back here
//	             k c @commit   committed, locked only (a primary that was not written: an observer's
//	                           trigger, or a cell got for update)
//	~lock        c   @start    an uncommitted transaction; names its primary
//	~notify      c/o @commit   observer o may have to run
//	~notify-leased  the same, for an observer that only the holder of a lease may run
//	~ack         c/o @start    observer o has run; start timestamp of its last run
//	~read        c   @commit   committed by a transaction that got c for update
//
// Rollback and lock-only records have columns of their own, so that the newest
// version of w at or below a timestamp is always the one that a reader needs.
//
// # Invariants
//
//  1. A transaction's start timestamp is its snapshot: it sees exactly the
//     transactions whose commit timestamp is below it.
//  2. If two transactions write one cell and neither saw the other, at most one
//     of them commits. A cell read for update counts as written here.
//  3. The primary decides the outcome of a transaction. If it has a w or k record
//     with the transaction's start timestamp, the transaction has committed; with
//     an r record, it was rolled back; with a lock, it is undecided. If the
//     primary has none of these, an r record is written atomically before
//     any process acts on it.
//  4. A notification is in the table before the write that caused it can
//     be read, and stays until an observer run that started after that
//     write has committed.
package txn
