// Package index writes and searches the exported index files: one SQLite database with an
// FTS5 full-text table, and one document per cluster (docs/semantics.md, section 7).
// docs/format-index.md describes the tables.
//
// [OpenWriter] opens the writer: one process, one connection, and one goroutine that groups
// waiting requests into one SQLite transaction. [OpenReader] opens a reader: any number of
// processes can read, with or without a writer, even after a writer was killed.
//
// Package search finds and ranks documents. It asks one [View], or the shards of a divided index
// ([LocalShard]), and knows nothing about files.
//
// Other packages do work that needs no files: analysis turns texts into tokens, query turns
// queries as typed into expressions, postings decodes the lists of FTS5, snippet cuts
// snippets from texts, spelling compares words, completion completes typed text, and
// cksumvfs puts a checksum on each page.
//
// FTS5 stores the full-text index, but Go code analyses all text: FTS5 sees only finished
// tokens. Nor does FTS5 answer searches: matches.go and bm25.go do, from its posting lists.
//
// The package knows nothing about transactions or observers. The top of apply.go says what
// it promises to a pipeline that delivers at least once and in any order.
package index
