// Package repository opens a data directory and connects its parts: store, transactions,
// observers, loader and index files. The commands of package cli, and the tests and benchmarks
// of the whole pipeline, use it.
//
//	DIR/store   the table (Badger), unless it is in a database (Options.Table)
//	DIR/index   the index files (SQLite), which other processes may read
//	DIR/graph   the link graph as settle last read it, and graph.changed, what changed since
//	DIR/clock   when timestamps were issued, for traces
//
// One process holds the directory at a time; package control lets others ask it. Several
// processes, each with a directory of its own, may share a table in a database (Options.Share).
package repository
