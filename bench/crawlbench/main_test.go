package crawlbench

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no goroutine of a server, crawler or repository outlives its
// test. Like the program, the test binary also serves as the process that serves the
// site.
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
