package txn

import "errors"

// ErrCrash in an error of Options.Step keeps the protocol from cleaning up after
// itself. For tests.
var ErrCrash = errors.New("txn: crash")

// Step is a point of the protocol at which a process can die, or a test can stop
// it: a failpoint. Without Options.Step it costs a comparison with nil.
type Step struct {
	// Name is the argument of Options.Step, or, for a step of the store, of
	// badgerdb.Options.Step.
	Name string
	// When says what the process was about to do, or had just done.
	When string
	// Committed says that the transaction has committed by then; Locks says that locks
	// may remain in the table.
	Committed, Locks bool
	// Leaves and Repair complete the table of docs/transactions.md: what the crash leaves
	// in the table, and what repairs it.
	Leaves, Repair string
}

// The steps of a commit in two phases, in order.
const (
	stepPrewrite           = "prewrite"
	stepPrewritten         = "prewritten"
	stepCommitTS           = "commit-ts"
	stepNotify             = "notify"
	stepCommitPrimary      = "commit-primary"
	stepPrimaryCommitted   = "primary-committed"
	stepCommitSecondary    = "commit-secondary"
	stepSecondaryCommitted = "secondary-committed"
	stepUnnotify           = "unnotify"
	stepHandover           = "handover"
	stepUndo               = "undo"

	// One phase; handover follows.
	stepCommitBatch    = "commit-batch"
	stepBatchCommitted = "batch-committed"

	// Resolving the lock of a dead transaction.
	stepResolvePrimary = "resolve-primary"
	stepResolveForward = "resolve-forward"
	stepResolveBack    = "resolve-back"

	// The oracle.
	stepOracleRange        = "oracle-range"
	stepOracleRangeWritten = "oracle-range-written"
)

const (
	leftLocks  = "locks and data of the earlier cells"
	rolledBack = "the next transaction that finds a lock rolls back: the primary first, under the guard that its lock still exists, then the cell"
	rolledOn   = "the next transaction that finds a lock sees that the primary has committed, and rolls the cell forward with its acknowledgement and read lock"
)

// Steps lists all failpoints, in the order of the protocol. A test dies at each of them,
// as often as a transaction reaches it, and checks what it leaves and how that is
// repaired.
func Steps() []Step {
	return []Step{
		{stepPrewrite, "before a cell is locked", false, true, leftLocks, rolledBack},
		{stepPrewritten, "after a cell is locked", false, true, leftLocks, rolledBack},
		{stepCommitTS, "all cells are locked, before the commit timestamp", false, true, "all locks and data", rolledBack},
		{stepNotify, "before the notifications of other rows", false, true, "all locks and data", rolledBack},
		{stepCommitPrimary, "before the commit point", false, true, "all locks and data; notifications without a write", rolledBack + "; the observers that are woken find nothing to do"},
		{stepPrimaryCommitted, "after the commit point", true, true, "the primary committed, all other locks", rolledOn},
		{stepCommitSecondary, "before another cell is committed", true, true, "the primary committed, locks from this cell on", rolledOn},
		{stepSecondaryCommitted, "after another cell is committed", true, true, "the primary committed, locks after this cell", rolledOn},
		{stepUnnotify, "before the handled notification is removed", true, false, "everything committed, and the handled notification", "the observer is woken again, finds its acknowledgement, and only removes the notification"},
		{stepHandover, "before the workers are told of new notifications", true, false, "everything done; the workers were not told", "the scan for notifications at the next start"},
		{stepUndo, "before a cell of a commit that failed is undone", false, true, "locks and data of the cells not yet undone; the primary is the last", rolledBack},
		{stepCommitBatch, "one phase: before the batch", false, false, "nothing", "nothing to repair"},
		{"group-stamped", "store: commit timestamps are taken, the group of batches is not written", false, false, "nothing; the timestamps are never used", "nothing to repair"},
		{"group-written", "store: the group is in the log, and no reader has seen it", true, false, "the whole batch; the committer was not told", "the store replays its log"},
		{"group-visible", "store: readers see the group, and no committer was told", true, false, "the same", "the store replays its log"},
		{stepBatchCommitted, "one phase: after the batch", true, false, "everything done; the workers were not told", "the scan for notifications at the next start"},
		{stepResolvePrimary, "another transaction, before it rolls a dead primary back", false, true, "the same state", rolledBack},
		{stepResolveBack, "another transaction, before it rolls a cell back", false, true, "the primary rolled back, and the lock of the cell", "the next transaction that finds the lock sees that the primary was rolled back, and does the same"},
		{stepResolveForward, "another transaction, before it rolls a cell forward", true, true, "the primary committed, and the lock of the cell", rolledOn},
		{stepOracleRange, "oracle: before a ceiling is written", false, false, "the old ceiling; no timestamp above it was handed out", "the next process starts at the ceiling"},
		{stepOracleRangeWritten, "oracle: after a ceiling is written", false, false, "a ceiling above all timestamps that were handed out", "the next process starts there; the timestamps between are never used"},
	}
}
