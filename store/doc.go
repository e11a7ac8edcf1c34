// Package store defines a table in the manner of Bigtable: a sorted map from
// (locality group, row, column, timestamp) to bytes.
//
// It knows nothing about transactions, the web or observers. It guarantees
// four properties, on which package txn builds Percolator (OSDI 2010):
//
//  1. Read sees one row at one instant, across all its locality groups.
//  2. Mutate changes one row atomically and conditionally, and reports whether the
//     mutation was applied or refused, or that the outcome is unknown.
//  3. Apply writes many rows without conditions. Every mutation is idempotent,
//     so a caller that does not know the outcome can repeat it.
//  4. Scan visits the rows of one locality group in byte order and can be
//     resumed at a row.
//
// An engine that holds all rows in one place can offer two more capabilities:
// a Snapshotter reads many rows at one instant, and a Committer applies a whole
// batch of guarded mutations, over any rows, as one atomic step with a
// timestamp taken inside that step.
//
// Every engine passes the conformance suite in package storetest. store/mem is the simplest
// engine, and store/badgerdb the default. store/postgres and store/bigtable keep a table in a
// database that several processes share.
package store
