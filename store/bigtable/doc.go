// Package bigtable is a store.Table in Google Cloud Bigtable, the store that Percolator was
// built on. Any number of processes can open it at once.
//
// # Layout
//
// A table bigtable://PROJECT/INSTANCE/PREFIX consists of the Bigtable table PREFIX and, for
// groups with OwnTable, PREFIX-notify:
//
//	locality group   column family (key.go encodes the name)
//	row              "r" + row in PREFIX; a byte from a hash of the row, then the row, in
//	                 PREFIX-notify: a hexadecimal digit in the first group there, a letter
//	                 from g to v in the second
//	timestamp        microseconds = timestamp × 1000
//	"\x00table"      a row of the table's own: its format and its groups (schema.go)
//
// Timestamps are multiplied because the client silently truncates them to milliseconds. They
// look like moments in January 1970, so a garbage-collection rule by age would remove
// everything, and a rule by number would remove versions that other cells still point to. So
// the families have no such rule, and Open refuses a table that has one.
//
// # Requests
//
// A guarded mutation is one CheckAndMutateRow (mutate.go). The client never repeats it; if the
// answer is lost, the engine reads the row to learn the outcome. All other requests are
// idempotent, and the client repeats them, with growing delays, until Options.CallTimeout is
// over. Concurrent reads, and concurrent writes without guards, share requests (batch.go).
//
// The build tag nobigtable leaves this package out of the program (store/engines).
package bigtable
