package postgres

import "sync/atomic"

type counters struct {
	reads, readRequests, writes, writeRequests, guarded, scans, scanRequests atomic.Int64
}

// Stats counts the calls of the table, and the round trips to the server that they took. It
// does not count repetitions after errors.
type Stats struct {
	Reads, ReadRequests   int64 // Read; those that come at the same time share round trips
	Writes, WriteRequests int64 // rows of Apply
	Guarded               int64 // Mutate; one round trip each
	Scans, ScanRequests   int64
}

// Requests is the number of all round trips.
func (s Stats) Requests() int64 {
	return s.ReadRequests + s.WriteRequests + s.Guarded + s.ScanRequests
}

// Stats returns the counts since Open.
func (t *table) Stats() Stats {
	c := &t.counters
	return Stats{
		Reads: c.reads.Load(), ReadRequests: c.readRequests.Load(),
		Writes: c.writes.Load(), WriteRequests: c.writeRequests.Load(),
		Guarded: c.guarded.Load(),
		Scans:   c.scans.Load(), ScanRequests: c.scanRequests.Load(),
	}
}
