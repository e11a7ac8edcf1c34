package txn

import "errors"

// ErrCrash in an error of Options.Step keeps the protocol from cleaning up after
// itself. For tests.
var ErrCrash = errors.New("txn: crash")

// Step is a point of the protocol at which a process may die, or a test may stop
// it: a failpoint. Without Options.Step it costs a comparison with nil.
type Step struct {
	// Name is what Options.Step is called with; for a step of the store, what
	// badgerdb.Options.Step is called with.
	Name string
	// When the process dies there: what it was about to do, or had just done.
	When string
	// Committed says that the transaction has committed then; Locks, that locks
	// may be left in the table.
	Committed, Locks bool
	// Leaves and Mended complete the table of docs/transactions.md: what is left
	// behind, and who mends it, how.
	Leaves, Mended string
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

	// Of one phase; handover follows.
	stepCommitBatch    = "commit-batch"
	stepBatchCommitted = "batch-committed"

	// Of whoever meets the lock of a dead transaction.
	stepResolvePrimary = "resolve-primary"
	stepResolveForward = "resolve-forward"
	stepResolveBack    = "resolve-back"

	// Of the oracle.
	stepOracleRange        = "oracle-range"
	stepOracleRangeWritten = "oracle-range-written"
)

const (
	leftLocks  = "locks and data of the cells so far"
	rolledBack = "whoever meets a lock rolls back: the primary first, under the guard that its lock is still there, then the cell"
	rolledOn   = "whoever meets a lock finds the primary committed and rolls the cell forward, acknowledgement and read lock included"
)

// Steps lists all failpoints, in the order of the protocol. A test walks it: it dies
// at each, as often as a transaction comes by, and looks at what is left and at what
// becomes of it.
func Steps() []Step {
	return []Step{
		{stepPrewrite, "before a cell is locked", false, true, leftLocks, rolledBack},
		{stepPrewritten, "after a cell is locked", false, true, leftLocks, rolledBack},
		{stepCommitTS, "all locked, before the commit timestamp", false, true, "all locks and data", rolledBack},
		{stepNotify, "before the notifications of other rows", false, true, "all locks and data", rolledBack},
		{stepCommitPrimary, "before the commit point", false, true, "all locks and data; notifications without a write (ghosts)", rolledBack + "; the observers that are woken find nothing to do"},
		{stepPrimaryCommitted, "after the commit point", true, true, "the primary committed, all other locks", rolledOn},
		{stepCommitSecondary, "before another cell is committed", true, true, "the primary committed, locks from this cell on", rolledOn},
		{stepSecondaryCommitted, "after another cell is committed", true, true, "the primary committed, locks after this cell", rolledOn},
		{stepUnnotify, "before the answered notification is removed", true, false, "all committed, and the notification that was answered", "the observer is woken again, finds its acknowledgement, and only removes the notification"},
		{stepHandover, "before the workers are told of new notifications", true, false, "all done; nobody was told in memory", "the scan for notifications at the next start"},
		{stepUndo, "before a cell of a commit that failed is undone", false, true, "locks and data of the cells not yet undone; the primary is the last", rolledBack},
		{stepCommitBatch, "one phase: before the batch", false, false, "nothing", "nobody needs to"},
		{"group-stamped", "store: commit timestamps are taken, the group of batches is not written", false, false, "nothing; the timestamps are never used", "nobody needs to"},
		{"group-written", "store: the group is in the log, no reader has seen it", true, false, "the batch as a whole; nobody was told that it committed", "the store replays its log"},
		{"group-visible", "store: readers see the group, no committer was told", true, false, "the same", "the store replays its log"},
		{stepBatchCommitted, "one phase: after the batch", true, false, "all done; nobody was told in memory", "the scan for notifications at the next start"},
		{stepResolvePrimary, "a stranger, before it rolls a dead primary back", false, true, "all as it was", rolledBack},
		{stepResolveBack, "a stranger, before it rolls a cell back", false, true, "the primary rolled back, the lock it met", "whoever meets the lock finds the primary rolled back and does the same"},
		{stepResolveForward, "a stranger, before it rolls a cell forward", true, true, "the primary committed, the lock it met", rolledOn},
		{stepOracleRange, "oracle: before a ceiling is written", false, false, "the ceiling below; nothing was handed out from there on", "the next process starts at the ceiling"},
		{stepOracleRangeWritten, "oracle: after a ceiling is written", false, false, "a ceiling up to which nothing was handed out", "the next process starts there; the timestamps between are never used"},
	}
}
