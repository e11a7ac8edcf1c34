// Package remote is the gRPC service of the timestamp oracle: a server around an
// oracle.Oracle, and the client through which the transactions of other processes use it.
package remote
