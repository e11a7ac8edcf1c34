// Package store is a table in the manner of Bigtable: a sorted map from
// (locality group, row, column, timestamp) to bytes.
//
// It knows nothing of transactions, of the web or of observers. It promises
// four things, and package txn builds Percolator (OSDI 2010) on just these:
//
//  1. Read sees one row at one instant, across all its locality groups.
//  2. Mutate changes one row atomically and conditionally, and says whether it
//     was applied, refused, or whether nobody can know.
//  3. Apply writes many rows without conditions. Every mutation is idempotent,
//     so a caller that does not know whether it happened does it again.
//  4. Scan visits the rows of one locality group in byte order and can be
//     resumed at a row.
//
// An engine that holds all rows in one place can offer two capabilities more:
// a Snapshotter reads many rows at one instant, and a Committer applies a whole
// batch of guarded mutations, over any rows, as one atomic step with a
// timestamp taken inside that step.
//
// Package storetest holds the conformance suite that every engine passes;
// store/mem is the plainest table that does, store/badgerdb the one users run.
package store
