// Package config holds the settings of the program. It reads them from a file, the
// environment and flags, and checks them strictly: an unknown setting or a value that is
// not allowed is an error that names its place, never a silent default.
package config

import "time"

// Config holds all settings. settings.go lists the keys of the file; config.yaml at the
// root of the project documents each of them.
type Config struct {
	// Data is the directory that holds everything the program stores.
	Data string
	// GroupAccess opens the data directory to its group.
	GroupAccess bool
	// LogLevel is the minimum level of log messages: debug, info, warn or error.
	LogLevel string
	// Format is the format of results on standard output: text or json.
	Format string
	// Workers is how many observers, and how many loaders, run at a time.
	Workers int
	// Backlog is how many rows may wait for observers before loading pauses.
	Backlog int
	// Memory is how many MiB of heap the program tries to stay within; 0 stands for auto,
	// a share of what the machine has.
	Memory int
	// Commit is auto, one-phase or two-phase.
	Commit string
	// Sync makes acknowledged writes survive the loss of the machine, too.
	Sync bool
	// History is how long old versions are kept.
	History time.Duration
	// Trace is how many runs of observers on a row are kept in memory for indexer trace.
	Trace int
	WARC  WARC
	Query Query
	Crawl Crawl
	Serve Serve
	// RankTolerance is the relative error that ranks may have; 0 keeps that of the data
	// directory.
	RankTolerance float64
}

// WARC holds the settings of reading WARC files.
type WARC struct {
	// MaxBody is the largest body that is read, in bytes.
	MaxBody int
}

// Default returns the default settings.
func Default() Config {
	return Config{
		Data:     "./data",
		LogLevel: "warn",
		Format:   "text",
		Workers:  4,
		Backlog:  2000,
		Commit:   "auto",
		Trace:    64 << 10,
		WARC:     WARC{MaxBody: 32 << 20},
		Query:    defaultQuery(),
		Crawl:    defaultCrawl(),
		Serve:    defaultServe(),
	}
}
