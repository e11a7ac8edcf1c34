package notify

import "testing"

// The bugs from which the family learned, as stories in testdata/regressions. Each
// has been seen to fail with the guarded behaviour taken out.

// fluo#415: a transaction put weak notifications at its start timestamp, and an
// observer's run removed them up to its commit timestamp. So a run took away what
// was sent between its start and its commit, which it had not seen, and counts came
// out too low. Here: put at the commit, removed up to the start.
func TestFluo415(t *testing.T) { tell(t, "testdata/regressions/fluo415") }

// fluo#456: after a restart in the middle of a stress test the counts were wrong:
// primaries had committed, other cells were still locked, and the notification that
// would have led to another run was gone, because a run removed its own before its
// secondary cells were committed. Here it is removed last.
func TestFluo456(t *testing.T) { tell(t, "testdata/regressions/fluo456") }

// fluo#642: the remedy of #456 rested on "run again, it notifies again". That does not
// hold for a run that had committed: the next run finds nothing to do, so the
// notifications of the second phase are never sent. Here all notifications of other
// rows are in the table before the commit point, and those of its row with it.
func TestFluo642(t *testing.T) { tell(t, "testdata/regressions/fluo642") }

// fluo#660: a reader found a lock whose primary had no record, could not determine the
// outcome of the transaction, and every scan of the row failed for ever. Causes were an
// owner's own rollback that marked the wrong cell as primary, and recovery that looked
// in the wrong place. Here a missing record becomes a rollback record; and a process
// that rolls an observer's run forward acknowledges it too.
func TestFluo660(t *testing.T) { tell(t, "testdata/regressions/fluo660") }

// fluo#839: the stress test hung with 39,855 notifications that were tracked as
// queued and with no worker: when the partition of the rows changed, a worker
// skipped the rows that were no longer its own, and forgot to return them.
// Here a row that was taken is given back whatever happens.
func TestFluo839(t *testing.T) { tell(t, "testdata/regressions/fluo839") }

// tikv#7364: a rollback record keeps a late prewrite out. To save space, a younger
// transaction's rollback record took the place of an older one's at the same cell;
// then the older one's prewrite arrived, found no record, and could even commit in
// part. Here each transaction's record stays until garbage collection, which comes
// after all locks below the safe point are gone.
func TestTikv7364(t *testing.T) { tell(t, "testdata/regressions/tikv7364") }
