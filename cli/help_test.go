package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/spf13/cobra"
)

// TestHelp shows the help of every command as it is printed.
func TestHelp(t *testing.T) {
	shown := make(map[string]bool)
	datadriven.RunTest(t, "testdata/help", func(t *testing.T, d *datadriven.TestData) string {
		args := strings.Fields(d.Input)
		shown[strings.Join(args, " ")] = true
		var stdout, stderr bytes.Buffer
		if status := run(context.Background(), append(args, "--help"), nil, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
			t.Errorf("status %d, standard error %q", status, stderr.String())
		}
		return stdout.String()
	})
	visit(newApp(nil, nil, nil).rootCommand(), func(c *cobra.Command) {
		if c.Hidden {
			return // not for people
		}
		path := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "indexer"))
		if !shown[path] {
			t.Errorf("testdata/help does not show %q", path)
		}
		if c.Example == "" && c.HasParent() {
			t.Errorf("%q has no example", path)
		}
	})
}

func visit(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		visit(sub, f)
	}
}
