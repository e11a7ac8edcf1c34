// Package postgres is a store.Table in a PostgreSQL database: on a single server, or on Citus,
// which distributes the rows over several. Any number of processes can open a table at once.
//
//	table, err := postgres.Open(ctx, "postgres://indexer@db.example/web", groups, postgres.Options{})
//
// It is neither a store.Committer nor a store.Snapshotter: the database would have to issue
// commit timestamps itself, and a snapshot that lasts as long as a transaction of the caller
// would stop it from removing dead rows. So package txn uses its two-phase protocol on it.
//
// # Layout
//
// One schema of the database holds one table. Each locality group is an SQL table cells_N,
// one SQL row per cell (tables.sql.tmpl), with the key
//
//	head        the first 1,024 bytes of the row's key
//	tail        the SHA-256 of the other bytes, or nothing if there are none
//	col         the column
//	inverse_ts  the timestamp, reversed so that the newest version comes first
//	            (in a Latest group, a plain column)
//
// The key is split because an entry of PostgreSQL's B-trees has at most 2,704 bytes, and the row
// of a link between two long URLs up to 16,384. That costs a short row, as nearly all are, one
// byte. Citus distributes all these tables by head, so one server has a row with all its groups.
//
// # Writes
//
// Mutate and Apply call one PL/pgSQL function (mutate.sql.tmpl), which first takes an
// advisory lock for each row, then evaluates the guards, then writes. At the isolation level READ
// COMMITTED, each statement of a volatile function has a snapshot of its own. So the guards
// see everything that the previous holder of the lock has committed; PostgreSQL releases
// the lock after the commit is visible. Two shorter ways are wrong or slow:
//
//   - One statement that checks and writes (INSERT … WHERE NOT EXISTS …) takes its snapshot
//     before it waits for a lock, and then decides by what was there before the wait.
//   - SERIALIZABLE decides correctly, but it tracks reads by page, and all prewrites read the
//     same few pages of the lock group: it made 14,547 retries and 73 transactions a second,
//     where the function makes 1,188 transactions a second.
//
// A call is one statement and one transaction. No transaction ever waits for a client,
// so a client that dies or is cut off holds no lock.
//
// # Reads
//
// A Read is one statement, so all its selectors see one instant, across groups. Concurrent
// Reads share round trips (readbatch.go). A Scan reads pages, each with one statement, and
// never shows half of a row. No snapshot is open while the callback runs.
//
// # Unknown outcomes
//
// An answer of the server to the statement itself is certain: it is the result, or an error,
// which undoes everything. After any other end of a call (a broken connection, the end of the
// context, a server that shuts down), Mutate returns Unknown. The engine cannot learn the outcome
// by reading, because another client may have written the same bytes. Package txn can, because
// its cells name their transaction.
package postgres
