// Package txnbench measures transactions and notifications, each beside its
// baseline in the same run: machines differ and are noisy, so ratios count.
//
//	figure8.go     reads and writes beside raw Badger: Figure 8 of the paper
//	oracle.go      timestamps per second
//	latency.go     from a commit to the start of the observer it wakes
//	contention.go  many goroutines on few rows, beside a mutex for each row
//	brokerage.go   a workload in the manner of TPC-E (paper, section 3.3)
//	cost.go        where the time of one transaction goes
package txnbench
