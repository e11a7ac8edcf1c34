package loader_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
)

// TestSpec loads the fetches of testdata, one per line (webtest.ParseFetch), and prints
// for each its effect, and what it changed in the table and which observers it wakes.
// "settle" lets the observers do their work, "new" begins with an empty table. Nothing
// else runs: what is woken stays so, and waking it again does not show.
func TestSpec(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		stage := newStage(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "new":
				stage = newStage(t)
				return ""
			case "load":
				return load(t, stage, d)
			case "settle":
				if err := stage.Run(t.Context(), ""); err != nil {
					d.Fatalf(t, "%v", err)
				}
				if _, err := stage.Changes(t.Context()); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func newStage(t testing.TB) *webtest.Stage {
	t.Helper()
	s, err := webtest.NewStage(t.Context(), observers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func load(t *testing.T, s *webtest.Stage, d *datadriven.TestData) string {
	var b strings.Builder
	for line := range strings.Lines(d.Input) {
		f, err := webtest.ParseFetch(line)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		effect, err := s.Load(t.Context(), f)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		changes, err := s.Changes(t.Context())
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		fmt.Fprintf(&b, "%s: %s\n%s", strings.Join(strings.Fields(line)[:3], " "), effect, changes)
	}
	return b.String()
}
