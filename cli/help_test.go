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

// TestExamples runs the examples that name pages of the demonstration in README.md, and all of query.
func TestExamples(t *testing.T) {
	data := lighthouseData(t)
	ran := 0
	visit(newApp(nil, nil, nil).rootCommand(), func(c *cobra.Command) {
		for line := range strings.SplitSeq(c.Example, "\n") {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " | ")
			if !strings.Contains(line, "skerryrock") && c.Name() != "query" || strings.Contains(line, "--at ") || strings.Contains(line, "--screenshot ") {
				continue // the data has no history and no renderings
			}
			status, stdout, stderr := indexer(t, append([]string{"--data", data}, wordsOf(line)[1:]...)...)
			if ran++; status != 0 || stdout == "" || strings.Contains(stdout, "Nothing was found") || strings.Contains(stdout, "never fetched") {
				t.Errorf("%s: status %d\n%s%s", line, status, stdout, stderr)
			}
		}
	})
	if ran < 10 {
		t.Errorf("%d examples ran", ran)
	}
}

// wordsOf splits a line as a shell does, if all its quotes are single.
func wordsOf(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

func visit(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		visit(sub, f)
	}
}
