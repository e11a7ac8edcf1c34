// Package config holds the settings of the program. It reads them from a file, the
// environment and flags. An unknown setting or an invalid value is an error that names the
// line, the variable or the flag, never a silent default.
package config

import "time"

// Config holds all settings. settings.go lists the keys of the file; config.yaml at the
// root of the project documents each of them.
type Config struct {
	// Data is the directory that holds everything the program stores.
	Data string
	// Store names the table: "" for the one in the data directory, or the URL of a database
	// (package store/engines).
	Store string
	// Index names the index that queries search: "sqlite:" for index files in the data
	// directory, or the URL of another one.
	Index string
	// IndexShards is the number of shards into which the index files of a shared store are
	// divided.
	IndexShards int
	// OpenSearch is how the server of an index on OpenSearch is reached.
	OpenSearch OpenSearch
	// Oracle lists the addresses of the timestamp oracles, with commas between; "" if one
	// process has the store to itself.
	Oracle string
	// Etcd lists the members of the etcd cluster that keeps liveness tokens, with commas
	// between; "" keeps them in the store.
	Etcd string
	// TLS is how processes of a deployment recognise each other.
	TLS TLS
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
	// Memory is how many MiB of heap the program tries to stay within; 0 means auto, a
	// share of the machine's memory.
	Memory int
	// Commit is auto, one-phase or two-phase.
	Commit string
	// Sync makes acknowledged writes survive even a crash of the machine.
	Sync bool
	// History is how long old versions are kept.
	History time.Duration
	// Office is keep, on or off: whether office documents are indexed.
	Office string
	// PDF is keep, on or off: whether PDF documents are indexed.
	PDF string
	// Render is keep, off, auto or all: which pages are rendered in a browser.
	Render string
	// Browser is the program that renders pages; "" finds one.
	Browser string
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

// OpenSearch holds files.
type OpenSearch struct {
	// Credentials holds USER:PASSWORD; "" takes them from the environment.
	Credentials string
	// CA holds the certificates that sign the server's; "" takes those of the system.
	CA string
}

// TLS holds files: certificates and a secret.
type TLS struct {
	// Cert and Key are the certificate of this process and its key, CA those that sign the
	// certificates of the others.
	Cert, Key, CA string
	// Token holds the secret that all processes share.
	Token string
}

// WARC holds the settings of reading WARC files.
type WARC struct {
	// MaxBody is the largest body that is read, in bytes.
	MaxBody int
}

// Default returns the default settings.
func Default() Config {
	return Config{
		Data:        "./data",
		Index:       "sqlite:",
		IndexShards: 1,
		LogLevel:    "warn",
		Format:      "text",
		Workers:     4,
		Backlog:     2000,
		Commit:      "auto",
		Office:      "keep",
		PDF:         "keep",
		Render:      "keep",
		Trace:       64 << 10,
		WARC:        WARC{MaxBody: 32 << 20},
		Query:       defaultQuery(),
		Crawl:       defaultCrawl(),
		Serve:       defaultServe(),
	}
}
