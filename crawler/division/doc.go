// Package division divides the hosts of a crawl among several crawlers, through a table
// that all of them share.
//
// # Who owns what
//
// Each crawler has a row that names it by its token of liveness (txn.Liveness). Each of
// the 256 partitions (package partition) has a row that names the crawler that holds it.
// Once a second every crawler reads these rows, asks which of the crawlers are alive, and
// computes by rendezvous hashing which partitions it should have. It takes those of them
// that no live crawler holds. It releases those that should belong to another one: first
// it ends the requests to their hosts, then the partition becomes free. So a crawler that
// joins gets its share within some seconds; the partitions of one that was killed move
// when its token has expired.
//
// The views of two crawlers may differ for a while. Then a partition is free for longer
// than necessary, or moves twice. It never has two holders: that is decided by
// transactions.
//
// # Fences
//
// A process that was stopped may continue after others have considered it dead and have
// taken its partitions. It makes no request then, because it asks for its own validity
// first (txn.Liveness says why that suffices). What it still commits, of requests it had
// made before, must not overwrite what its successor knows. So each partition has a row
// of fences, cells that the taker writes and that each transaction of its holder about a
// host of the partition reads for update (Guard), as with leases (package lease): such a
// transaction commits before the partition is taken, or never. There are several fences
// because two transactions at one fence would conflict with each other.
//
// # Messages
//
// A worker that has found a URL does not know which crawler asks its host, and that may
// change. So it writes a row that names the host (Notify) in the range of the host's
// partition. The holder finds the row within a second, removes it, and then reads the
// host's queue. It removes the row first: a later message is a new row, and an earlier
// one is about URLs that the holder is about to see. If the holder dies in between, its
// successor reads the queues of all hosts of the partition.
//
// Sitemaps and feeds on hosts of other crawlers are handed over in the same way (Forward).
// One that was removed when its receiver died is lost until the next day's reading.
//
// # The end
//
// A crawler that has nothing to do says so in its row. The crawl is finished at a moment
// at which no transaction is open and no observer has work (txn.DB.Quiescent), every
// partition is held by a crawler that is alive, all of them are idle, and no message is
// there.
//
// Rejected: leases of package lease, one manager for all partitions. It takes every free
// lease, and knows nothing of shares or of releasing. Rejected: notifications as
// messages. All work is done only when every notification is handled, so `indexer wait`
// would never end without a crawler.
package division
