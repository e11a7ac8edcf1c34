// Package notify is Percolator's observers (OSDI 2010, section 2.4) as a
// framework: code that runs, each time in a transaction of its own, after a
// column it watches was written or somebody sent it a weak notification.
//
//	registry, _ := notify.NewRegistry(observers...)   // the one place of registration
//	pipeline := notify.New(registry, notify.Options{…})
//	db, _ := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: pipeline.Handover})
//	err := pipeline.Start(ctx, db)                    // workers run until Stop
//
// # What is promised
//
//  1. A notification is in the table from the moment the write that caused it
//     can be seen until an observer run that began after that write has
//     committed. Whatever is kept in memory can be lost: it is found again by
//     the scan at the next start.
//  2. Of the runs for one change of a column that is watched strongly, at most
//     one commits. Several changes may be answered by one run (message
//     collapsing). A weak notification may be answered several times.
//  3. A row is in one worker's hands at a time, for each observer. Rows are
//     taken oldest notification first, and none is passed over for ever.
//  4. An observer that keeps failing on a row gives up there: the row goes to the
//     dead letters with its error, and everything else goes on.
//
// Observers must be idempotent functions of what they read: a run whose
// transaction does not commit has not happened, but what it did outside the
// transaction has.
package notify
