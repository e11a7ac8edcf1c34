package bigtable

import "sync/atomic"

type counters struct {
	reads, readRequests, writes, writeRequests, guarded, scans, scanRequests, resolved, unknown, readAgain atomic.Int64
}

// Stats counts the calls of the table, and the requests to Bigtable that they took. It
// does not count repetitions by the client.
type Stats struct {
	Reads, ReadRequests   int64 // Read
	Writes, WriteRequests int64 // rows of Apply, and of Mutate without guards
	Guarded               int64 // Mutate with guards; one request each, and a read after a refusal
	Scans, ScanRequests   int64
	// Resolved and Unknown are guarded mutations whose answer was lost: with, and without, an
	// outcome that a read could tell.
	Resolved, Unknown int64
	// ReadAgain are reads that a shared request could not answer.
	ReadAgain int64
}

// Requests is the number of all requests.
func (s Stats) Requests() int64 {
	return s.ReadRequests + s.WriteRequests + s.Guarded + s.ScanRequests
}

// Stats returns the counts since Open.
func (db *DB) Stats() Stats {
	c := &db.counters
	return Stats{
		Reads: c.reads.Load(), ReadRequests: c.readRequests.Load(),
		Writes: c.writes.Load(), WriteRequests: c.writeRequests.Load(),
		Guarded: c.guarded.Load(),
		Scans:   c.scans.Load(), ScanRequests: c.scanRequests.Load(),
		Resolved: c.resolved.Load(), Unknown: c.unknown.Load(),
		ReadAgain: c.readAgain.Load(),
	}
}
