// Package search finds and ranks the documents of an index, whatever stores them. It asks
// sessions of one or several shards, and computes from their answers which documents are best and
// what to show of them. docs/ranking.md describes how documents are ranked.
//
// A [Session] answers questions about the documents of one state of a shard: [Question] lists
// them all. Package index has sessions on index files, package opensearch on a search server,
// and package shardrpc on shards of other processes.
//
// candidates.go and tier.go find candidates, rerank.go sorts them, fold.go makes one result of
// the versions and translations of a page, and diversify.go brings other hosts onto the first
// page. Each of the other files has one reason why a document counts more or less.
package search
