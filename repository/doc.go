// Package repository opens a data directory and connects its parts: store, transactions,
// observers, loader and index files. The commands of package cli, and the tests and benchmarks
// of the whole pipeline, use it.
//
//	DIR/store   the table (Badger), unless it is in a database (Options.Table)
//	DIR/index   the index files (SQLite), which other processes may read; index.mark, beside it,
//	            says which files are current
//	DIR/graph   the link graph as settle last read it; graph.changed, beside it, lists the rows
//	            that may have changed since
//	DIR/clock   when timestamps were handed out, for traces
//
// One process holds the directory at a time; package control lets others ask it. Several
// processes, each with a directory of its own, may share a table in a database (Options.Share).
package repository
