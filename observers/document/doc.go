// Package document computes what the index shows of a cluster (semantics.md
// sections 5 and 7): its text and members, how many links lead to it, and which
// anchors describe it best. It also computes how a page's list of links differs
// from the list that was inverted before.
//
// The package knows nothing about tables or transactions. A [Reader] supplies what is stored,
// and [Limits] bound how much is read, remembered and shown. The observers index, count and
// links decide when to call this package, at which snapshot, and what to write.
//
// Large work proceeds in steps. An [Assembly] reads a bounded number of rows at a time, and
// each part may be at another snapshot. [Diff] stops after a bounded number of changes and
// says where to continue. [Passes] keeps the unfinished assemblies, and knows which of them
// have seen everything.
package document
