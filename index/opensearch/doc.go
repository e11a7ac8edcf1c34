// Package opensearch keeps the index on an OpenSearch server: [Index] writes documents there
// and [Shard] searches them. The package uses the server's HTTP interface without a client
// library; it needs ten kinds of requests.
//
// Our own code analyses documents and ranks candidates, as for index files. The server gets
// finished tokens, finds the documents that match, and proposes candidates. So `query`,
// `serve` and the API give the same hits with the same scores (docs/opensearch.md says
// where they may differ).
//
// # What is written, and why the order does not matter
//
// The pipeline delivers changes at least once and in any order: twice, late, and from a
// process that was suspended for an hour and wakes up while its successor is at work. We
// give every record a version (version_type external), and the server refuses a version
// that is not higher than its own. So the newest record stays:
//
//	record          _id                            version
//	document        cluster, in hex                the Seq of its snapshot
//	  or its grave  the same
//	rank            r.cluster                      the Seq of its snapshot
//	fetch time      t.hash of cluster and URL      the time, in nanoseconds since 1970
//
// A refusal (409) therefore means success: the same or a newer record is already there.
//
// A deleted document leaves a grave: a record of its own kind, without content, that no
// search finds. It is not deleted on the server, because the server forgets the versions of
// deleted documents after a while (index.gc_deletes), and then an older message would bring
// the document back. A rebuild leaves the graves behind.
//
// Ranks and fetch times are records of their own, so a new one takes some bytes without the
// text, and the server does not index the text again. Our code joins them when it reads: the
// rank with the higher Seq counts, and the later time of the same URL (overlay.go). A rank of
// a cluster that has no document has no effect.
//
// Rejected: partial updates. The server reads, changes and indexes the whole document again,
// and cannot combine them with external versions.
//
// A URL has one document (index/apply.go, rule 3). No server checks that across documents,
// so for a moment, while a URL moves from one cluster to another, both may be there.
// Searches drop the one with the lower Seq.
//
// # Names
//
// The URL of the index names an alias. The documents are in an index NAME-000001; a rebuild
// fills NAME-000002 and moves the alias in one step. Writers use a second alias of each
// index, NAME-000001.write, and require the server to accept only an alias: otherwise a
// write to a removed index would create another one, without our mapping.
package opensearch
