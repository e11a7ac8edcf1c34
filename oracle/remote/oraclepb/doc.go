// Package oraclepb holds the messages of the oracle service, generated from oracle.proto.
// buf and both generators are Go modules, so generating needs only Go. They are run by
// version and are not in go.mod, which would otherwise list a hundred more modules.
package oraclepb

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.75.0 generate
