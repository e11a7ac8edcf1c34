// Package remote is the gRPC service of the timestamp oracle: the server around an
// oracle.Oracle, and the client that transactions of other processes use.
package remote
