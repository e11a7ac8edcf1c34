// Package postings reads the inverted index that SQLite's FTS5 keeps in its shadow tables:
// which rows have a token, and at which positions.
//
// FTS5 writes, merges and checks the index; this package only decodes it. Through SQL, FTS5
// returns matches one at a time through the virtual machine, and bm25() computes the
// positions of each match again: some five microseconds per match. Decoding the same doclists
// here takes nanoseconds per match, so a query costs little more than finding its words.
//
// # The format
//
// It is the format of fts5_index.c, version 4 (structure records of version 2, for tables
// with contentless_delete), which SQLite keeps compatible. This package reads
//
//   - row 1 of the table fts_data: the number of rows, and of tokens in each column
//     (structure.go);
//   - row 10: the segments, each a sorted list of terms over the leaf pages first to last
//     (structure.go);
//   - row segment<<37 + page: a leaf page (leaf.go). A term is followed by its doclist,
//     which may span the following pages; pages without a term of their own belong to the
//     last term before;
//   - row (segment+1<<16)<<37 + n: hash pages of the row ids that were deleted from the
//     segment (tombstone.go);
//   - the table fts_idx: for each leaf page with terms, a key above the last term of the
//     page before and not above its own first term.
//
// A byte '0' precedes every term and means the main index (there are no prefix
// indexes).
//
// # What it relies on
//
//  1. All reads belong to one SQLite read transaction. Any commit may rewrite pages and
//     remove segments by merging; in one snapshot they fit together. Nothing is kept from
//     one snapshot to the next.
//  2. The commit that deletes or replaces a row adds it to the tombstones of the segment
//     that had it. So all positions of a term in a live row are in one segment, and the
//     lists of a term need no order between segments.
//  3. Nothing is trusted, because pages may be damaged. Every offset is checked, and an
//     error wraps [ErrCorrupt].
//
// The tests compare this package with what FTS5 says about an index, through its table
// fts5vocab.
package postings
