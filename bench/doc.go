// Package bench holds the benchmarks that `indexer bench` runs, each beside its
// baseline in the same run: machines are noisy, ratios count.
package bench
