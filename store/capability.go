package store

import "context"

// Snapshotter is the capability to read many rows at one instant.
type Snapshotter interface {
	// Snapshot sees every mutation that was acknowledged before the call, and
	// none that is applied after it. It must be closed; an open snapshot may
	// delay the return of space to the disk.
	Snapshot() Snapshot
}

// Snapshot reads the whole table at one instant.
type Snapshot interface {
	Reader
	Close()
}

// Committer is the capability of an engine that holds all rows in one place: it commits a
// whole transaction as one atomic, conditional batch, with a commit timestamp
// taken in process between the check of the guards and the write.
type Committer interface {
	// UseClock sets where commit timestamps come from. It is called once,
	// before the first Commit.
	UseClock(Clock)

	// Commit evaluates all guards and applies all mutations of all rows in one
	// atomic step. Mutations whose TS is AtCommit get the commit timestamp,
	// which is returned with the outcome Applied. Visible and durable as with
	// Mutate.
	Commit(ctx context.Context, rows []RowMutation) (commitTS uint64, res Result, err error)
}

// Clock hands commit timestamps to a Committer.
//
// The engine groups commits: it calls Reserve(n) when it has n batches whose
// guards hold, gives each batch one of the timestamps first … first+n-1, makes
// them durable and visible, and then calls Visible. Calls of Reserve and Visible
// alternate, one at a time. The Clock decides which timestamps readers get between
// the two calls (see txn/oracle.go).
type Clock interface {
	Reserve(n int) (first uint64, err error)
	Visible()
}
