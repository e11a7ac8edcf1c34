// Package notify implements Percolator's observers (OSDI 2010, section 2.4) as a
// framework: code that runs, in a transaction of its own, after a write to a
// column that it watches, or after a weak notification.
//
//	registry, _ := notify.NewRegistry(observers...)   // the one place of registration
//	pipeline := notify.New(registry, notify.Options{…})
//	db, _ := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: pipeline.Handover})
//	err := pipeline.Start(ctx, db)                    // workers run until Stop
//
// # Guarantees
//
//  1. A notification is in the table from the moment at which the write that caused it
//     is visible until an observer run that began after that write has
//     committed. The state in memory may be lost: the scan at the next start
//     finds the notification again.
//  2. At most one run commits for each change of a column that an observer watches strongly.
//     One run may handle several changes (message collapsing). A weak notification may be
//     handled several times. A transaction that commits in two phases and fails may have sent
//     notifications: then a run finds no change.
//  3. For each observer, at most one worker has a row at a time. Workers
//     take the row with the oldest notification first, and no row is passed over for ever.
//  4. An observer that keeps failing on a row gives up on it: the row becomes a
//     dead letter with its error, and all other work continues.
//
// Observers must be idempotent functions of what they read: a run whose
// transaction does not commit has not happened, but its effects outside the
// transaction have.
package notify
