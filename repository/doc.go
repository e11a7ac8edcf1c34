// Package repository puts the parts together: store, transactions, observers,
// loader and index files in one data directory.
//
//	DIR/store   the table (Badger), unless it is in a database (Options.Table)
//	DIR/index   the index files (SQLite), which other processes may read
//	DIR/graph   the link graph as settle last read it, and graph.changed, what changed since
//	DIR/clock   when timestamps were issued, for traces
//
// One process holds the directory at a time; package control lets others ask it. Several
// processes, each with a directory of its own, may share a table in a database (Options.Share).
package repository
