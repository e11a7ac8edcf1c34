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
// A process that was stopped, or cut off, may continue after others have considered it dead
// and have taken its lease. Looking at a clock, or at the token, does not stop it: it may be
// stopped again between the look and the commit. So the table decides. A lease has some
// fences, which are cells that contain the token of the holder. A run under the lease reads
// one of them for update, so that the commit of the run and the transaction that takes the
// lease away, which writes all of them, conflict:
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
// transaction that takes the lease commits. What a holder keeps outside of the table, the
// new holder makes anew from there (Want.Gained).
//
// There are several fences because two runs at one fence would conflict with each other.
// Each run has one for itself.
//
// # Work on request
//
// Other processes can ask the holder to do something under the lease: see tasks.go.
package lease
