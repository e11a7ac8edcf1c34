// Package config is what the program can be told: every setting with its default,
// read from a file, the environment and flags, and checked strictly. A setting
// that does not exist or has a value that is not allowed is an error that names
// the place, never a silent default.
package config

import "time"

// Config holds all settings. The keys of the file are in settings.go, a sentence
// on each is in config.yaml at the project's root.
type Config struct {
	// Data is the directory under which the program writes everything.
	Data string
	// GroupAccess opens the data directory to its group.
	GroupAccess bool
	// LogLevel is debug, info, warn or error.
	LogLevel string
	// Format is text or json: the form of results on standard output.
	Format string
	// Workers is how many observers, and how many loaders, run at a time.
	Workers int
	// Backlog is how many rows may wait for observers before loading waits.
	Backlog int
	// Memory is how many MiB of heap the program tries to stay within.
	Memory int
	// Commit is auto, one-phase or two-phase.
	Commit string
	// Sync makes what was acknowledged survive a lost machine too.
	Sync bool
	// History is how long the past stays readable.
	History time.Duration
	// Trace is how many rows of observers' runs are remembered for indexer trace.
	Trace int
	WARC  WARC
	Query Query
	Crawl Crawl
	Serve Serve
	// RankTolerance is the relative error that ranks keep to; 0 keeps to what the data
	// directory has.
	RankTolerance float64
}

// WARC holds the settings of reading WARC files.
type WARC struct {
	// MaxBody is the largest body that is read, in bytes.
	MaxBody int
}

// Default is what holds where nothing else is said.
func Default() Config {
	return Config{
		Data:     "./data",
		LogLevel: "warn",
		Format:   "text",
		Workers:  4,
		Backlog:  2000,
		Memory:   600,
		Commit:   "auto",
		Trace:    64 << 10,
		WARC:     WARC{MaxBody: 32 << 20},
		Query:    defaultQuery(),
		Crawl:    defaultCrawl(),
		Serve:    defaultServe(),
	}
}
