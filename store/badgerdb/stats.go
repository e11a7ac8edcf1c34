package badgerdb

import (
	"context"
	"sync/atomic"
)

// Stats counts since the table was opened.
type Stats struct {
	// Groups is how many transactions were written, Requests how many calls (or
	// parts of an Apply) they carried, Refused how many were refused.
	Groups, Requests, Refused uint64
	// Entries and Bytes are what was written: keys plus values, before Badger's
	// own overhead and rewriting.
	Entries, Bytes uint64
	// GuardsFast were answered from memory, GuardsSlow by a look into Badger.
	GuardsFast, GuardsSlow uint64
	// LateSyncs is how often a memtable was full before it was expected (blobsync.go).
	LateSyncs uint64
	// BlobBytes is the size of the blob files.
	BlobBytes int64
	// LSMBytes and ValueLogBytes are the sizes of Badger's files, as of its last
	// count, which it makes once a minute.
	LSMBytes, ValueLogBytes int64
}

type counters struct {
	groups, requests, refused, entries, bytes, guardsFast, guardsSlow, lateSyncs atomic.Uint64
}

func (c *counters) wrote(b *batch) {
	c.groups.Add(1)
	c.entries.Add(uint64(b.entries))
	c.bytes.Add(uint64(b.bytes))
}

// Stats returns the counters.
func (db *DB) Stats() Stats {
	s := Stats{
		Groups:     db.stats.groups.Load(),
		Requests:   db.stats.requests.Load(),
		Refused:    db.stats.refused.Load(),
		Entries:    db.stats.entries.Load(),
		Bytes:      db.stats.bytes.Load(),
		GuardsFast: db.stats.guardsFast.Load(),
		GuardsSlow: db.stats.guardsSlow.Load(),
		LateSyncs:  db.stats.lateSyncs.Load(),
		BlobBytes:  db.blobs.total.Load(),
	}
	if db.gate.Enter(context.Background()) == nil {
		s.LSMBytes, s.ValueLogBytes = db.badger.Size()
		db.gate.Leave()
	}
	return s
}
