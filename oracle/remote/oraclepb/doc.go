// Package oraclepb holds the messages of the timestamp oracle's service, generated from
// oracle.proto. buf and both generators are Go modules, so generating needs only Go; they
// are run by version and not in go.mod, which would hold a hundred modules for it.
package oraclepb

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.75.0 generate
