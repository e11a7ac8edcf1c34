// Package badgerdb is the default store.Table: one directory, opened by one process, on
// Badger v4 (github.com/dgraph-io/badger). It offers both capabilities, store.Snapshotter
// and store.Committer.
//
// All writes go through one committer, which writes what has queued up as one
// Badger transaction (committer.go says why that is atomic, and what a crash
// leaves). Reads go to Badger directly, at the sequence number of the last whole
// group (views.go says why they see whole groups only, and never wait). Most
// guards are answered from memory (internal/newest, resident.go).
//
// Values of 1 KiB or more are in files of their own, which no compaction rewrites
// (blobs.go); Badger has pointers to them.
//
// Badger mistakes damaged files for short ones. So its files are checked before it opens
// them: the list of tables (internal/manifest), the tables (verifier.go,
// internal/tablefile) and the logs (progress.go, internal/memlog).
//
// Timestamps of cells are part of the keys (key.go, docs/format-store.md) and never
// Badger versions: Badger keeps, below its discard version, only the newest entry
// of a key, and which one that is must not depend on Percolator's timestamps.
package badgerdb
