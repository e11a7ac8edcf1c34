// Package trace reconstructs the journey of one page: when it was fetched and loaded,
// each observer's run on it with its timestamps, how long the run waited and what it
// wrote, the attempts that did not commit, and when the page became searchable.
//
// It combines three sources:
//
//   - The store. Every record has the timestamps of the transaction that wrote it, so
//     records with the same start timestamp belong to one transaction. Acknowledgements
//     identify strong observers, written columns the weak ones. The store survives
//     everything, but holds only committed transactions, and old versions only until
//     garbage collection (journey.go).
//   - A Log of the most recent attempts of observers, including failed ones, in memory,
//     with times to the microsecond. It is bounded and lost with the process (log.go).
//   - A Clock that knows when timestamps were handed out. Timestamps are only counters, so
//     samples of timestamp and time go to a file, ten per second while there are new
//     timestamps. They give times to transactions in the store, and bound the error of
//     these times (clock.go).
//
// Nothing else depends on the Log and the Clock: if the Log forgets, or the Clock's file
// is lost, journeys have fewer details but are never wrong.
package trace
