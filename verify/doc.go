// Package verify checks a repository (semantics.md section 8):
// it reads the stored fetches at one snapshot, computes in one batch what they
// mean (package batch: no observers, no incremental state), and compares the result
// with everything that the observers wrote, in the repository and in the index files.
//
// It checks the invariants of that section:
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
// It shares with the observers how a body is read (page), the encoding of rows (schema),
// the meaning of a stored chain, which time is shown and the bound of residuals
// (observers), and how a whole graph is solved (rank), and nothing else. It runs while
// the pipeline is running: the snapshot is taken at a moment when all work is done, and
// stays readable.
//
// The batch is in memory: a few fields and the links of all pages, and each link a second time
// with the cluster of its target. Bodies and texts are not: of those only a digest is kept,
// and a document that differs is computed again, to say how. Each URL and anchor is kept
// once, however many pages repeat it. Rows and index files are compared as they are scanned. So
// a page with very many inlinks, or a cluster with very many members, takes no more memory than
// the linking pages and the members take by themselves.
//
// The clusters and ranks of a page depend on pages anywhere in the web. So a process that
// compared only a range of rows would still have to interpret all pages, which is most of the
// work. That is why the work is divided within a process (RunParts) and not among several.
package verify
