// Package verify checks a repository: it reads the stored fetches at one snapshot, computes
// their result in one batch (package batch: no observers, no incremental state), and compares
// it with everything that the observers wrote to the store and to the index files.
//
// It checks the invariants of docs/semantics.md, section 8:
//
//  1. stored state, text and links against the stored body, and the body against
//     its digests                                     fetches.go, urls.go, docs.go
//  2. links of pages against inverted links                     docs.go, pairs.go
//  3. members against clusters                                           pairs.go
//  4. index documents against clusters, in the table and the files       index.go
//  5. every observer has seen the columns that it watches              answers.go
//  6. ranks against a full solve, residuals against their bound          ranks.go
//
// It also compares the member summaries of giant clusters with their members, and the icons of
// sites with the fetches that they are from (icons.go), and checks that no work on ranks is
// unfinished (leftover.go).
//
// It does not look for locks: a reader that finds one resolves it.
//
// It shares with the observers only how a body is read (page), the encoding of rows (schema),
// the meaning of a stored chain, which time is shown, the bound of residuals (observers), and
// how to solve a whole graph (rank). It can run while the pipeline runs: it takes the snapshot
// at a moment when all work is done, and keeps it readable.
//
// The batch is in memory: a few fields and the links of all pages, and each link a second time
// with the cluster of its target. Of bodies and texts it keeps only a digest; if a document
// differs, verify computes it again, to say how. Each URL and anchor is in memory once, however
// many pages repeat it. Rows and index files are compared as they are scanned. So a page with
// many inlinks, or a cluster with many members, takes only the memory that the linking pages
// and the members take anyway.
//
// The clusters and ranks of a page depend on pages anywhere in the web. A process that compared
// only a range of rows would still have to interpret all pages, which is most of the work. So
// the work is divided within a process (RunParts) and not among several.
package verify
