// Package division divides the hosts of a crawl among several crawlers that share a table.
// At any time, at most one crawler holds a host, and only its transactions about that host
// commit.
//
// # Who owns what
//
// Each crawler has a row that names it by its liveness token (txn.Liveness). Each of the 256
// partitions (package partition) has a row that names its holder. Once a second, every
// crawler reads these rows, asks which crawlers are alive, and computes by rendezvous hashing
// which partitions it should have. It takes those that no live crawler holds. It releases
// those that should belong to another: first it ends the requests to their hosts, then it
// frees the partition. So a crawler that joins gets its share within seconds, and the
// partitions of a killed crawler move when its token has expired.
//
// Two crawlers may see different states for a while. Then a partition stays free for longer
// than necessary, or moves twice. It never has two holders, because transactions decide.
//
// # Fences
//
// A suspended process may continue after others have considered it dead and taken its
// partitions. It sends no request then, because it first asks whether its own token is valid
// (txn.Liveness says why that suffices). But it may still commit the results of earlier
// requests, and those must not overwrite what its successor wrote. So each partition has a
// row of fences, as leases have (package lease). Whoever takes the partition writes all of
// these cells; each transaction of the holder about a host of the partition reads one of them
// for update (Guard). Such a transaction commits before the partition is taken, or never.
// There are several fences because two transactions on the same fence would conflict.
//
// # Messages
//
// A worker that finds a URL does not know which crawler has its host, and that may change. So
// it writes a row that names the host (Notify), in the range of the host's partition. The
// holder finds the row within a second, removes it, and then reads the queue of the host. The
// order matters: a later message is a new row, and an earlier one is about URLs that the
// holder is about to see. If the holder dies in between, its successor reads the queues of
// all hosts of the partition.
//
// Crawlers hand over sitemaps and feeds on each other's hosts in the same way (Forward). If
// the receiver dies after it has removed such a row, the sitemap is read again the next day.
//
// # The end
//
// An idle crawler says so in its row. The crawl is finished when, at one moment, no
// transaction is open and no observer has work (txn.DB.Quiescent), a live crawler holds every
// partition, all crawlers are idle, and there is no message.
//
// # Rejected
//
// Leases of package lease, with one manager for all partitions: a manager takes every free
// lease, and knows nothing about shares or about releasing. Notifications as messages:
// `indexer wait` waits until every notification is handled, so it would never end without a
// crawler.
package division
