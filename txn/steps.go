package txn

import "errors"

// ErrCrash in an error of Options.Step keeps the protocol from cleaning up after
// itself. For tests.
var ErrCrash = errors.New("txn: crash")

// The steps of the two-phase protocol at which Options.Step is called, with the
// cell concerned. What a crash just before each leaves behind, and who mends it:
//
//	step             left behind                                   mended by
//	prewrite         locks and data of the cells before it         a reader rolls back, once the owner is dead
//	commit-ts        all locks and data                            the same
//	notify           the same                                      the same
//	commit-primary   the same, and perhaps notifications without   the same; the observers find nothing to do
//	                 a write (ghosts)
//	commit-secondary the primary committed, locks elsewhere        a reader rolls forward
//	unnotify         all committed, the run's own notification     the observer is woken again, finds its
//	                                                               acknowledgement, and only removes it
//	handover         all done, nobody told in memory               the scan at the next start
//
// The one-phase path has the steps commit-batch (nothing left behind) and
// handover.
const (
	stepPrewrite        = "prewrite"
	stepCommitTS        = "commit-ts"
	stepNotify          = "notify"
	stepCommitPrimary   = "commit-primary"
	stepCommitSecondary = "commit-secondary"
	stepUnnotify        = "unnotify"
	stepHandover        = "handover"
	stepCommitBatch     = "commit-batch"

	stepOracleRange        = "oracle-range"
	stepOracleRangeWritten = "oracle-range-written"
)
