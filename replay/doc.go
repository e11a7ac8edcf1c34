// Package replay makes recorded crawls go through the pipeline as if they were
// being crawled now: it reads WARC files and hands each fetch to a Sink.
package replay
