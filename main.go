// Indexer builds and searches an incremental index of the web: see README.md, or
// run it without arguments.
package main

import (
	"context"
	"os"

	"github.com/webindexer/indexer/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
