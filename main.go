// Indexer crawls web sites or loads recorded crawls, and keeps a search index up to date
// page by page. Run it without arguments for help; README.md explains more.
package main

import (
	"context"
	"os"

	"github.com/webindexer/indexer/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
