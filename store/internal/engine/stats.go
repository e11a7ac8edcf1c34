package engine

import "sync/atomic"

// Counters count the calls of a table that is kept on a server.
type Counters struct {
	Reads, ReadRequests   atomic.Int64
	Writes, WriteRequests atomic.Int64
	Guarded               atomic.Int64
	Scans, ScanRequests   atomic.Int64
}

// Stats are the calls of a table since it was opened, and the requests to the server that they
// took, without those that were repeated after errors.
type Stats struct {
	Reads, ReadRequests   int64 // Read; calls at the same time share requests
	Writes, WriteRequests int64 // rows that were written without guards
	Guarded               int64 // the other calls of Mutate; one request each
	Scans, ScanRequests   int64
}

// Requests is the number of all requests.
func (s Stats) Requests() int64 {
	return s.ReadRequests + s.WriteRequests + s.Guarded + s.ScanRequests
}

// Stats returns the counts so far.
func (c *Counters) Stats() Stats {
	return Stats{
		Reads: c.Reads.Load(), ReadRequests: c.ReadRequests.Load(),
		Writes: c.Writes.Load(), WriteRequests: c.WriteRequests.Load(),
		Guarded: c.Guarded.Load(),
		Scans:   c.Scans.Load(), ScanRequests: c.ScanRequests.Load(),
	}
}
