// Package lease gives work that must have one owner at a time to one of the processes that
// share a table: the process that holds a lease.
//
// # What a lease is
//
// A cell in the table names the holder by its token of liveness (txn.Liveness). A process
// that wants a lease reads the cell from time to time, and takes the lease when it has no
// holder or when the holder is dead. Leases need no renewal: a token lives as long as its
// process.
//
// # Why two processes never both act under a lease
//
// A process that was suspended or cut off may continue after others have considered it dead
// and taken its lease. It cannot protect itself by checking a clock or its token, because it
// may be suspended again between the check and the commit. So the table decides. A lease has
// several fences: cells that contain the token of the holder. A run under the lease reads one
// of them for update. The transaction that takes the lease away writes all of them, so it
// conflicts with the commit of the run:
//
//   - A run that began before the lease was taken away, and commits later, is refused,
//     because the fence has changed since it began.
//   - A run that began later finds another token in the fence.
//   - A run that has locked its fence when the lease is taken away decides the matter: if
//     it commits, the lease is taken after it, and the new holder sees what it wrote. If it
//     does not, because its process is dead, its lock is rolled back, and it can never
//     commit.
//
// So everything that the old holder ever commits under the lease is in the table when the
// transaction that takes the lease commits. What a holder keeps outside the table, the new
// holder rebuilds from the table (Want.Gained).
//
// There are several fences because two runs on the same fence would conflict: each run has a
// fence of its own.
//
// # Work on request
//
// Other processes can ask the holder to do something under the lease: see tasks.go.
package lease
