// Package repository puts the parts together: store, transactions, observers,
// loader and index files in one data directory.
//
//	DIR/store   the table (Badger)
//	DIR/index   the index files (SQLite), which other processes may read
//
// One process holds the directory at a time; package control lets others ask it.
package repository
