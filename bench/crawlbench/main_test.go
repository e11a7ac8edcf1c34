package crawlbench

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Server, crawlers and repository of a round end with it.
//
// The test binary is also the process that serves the site, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "site" {
		if err := ServeSite(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
