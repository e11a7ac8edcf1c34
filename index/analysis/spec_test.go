package analysis

import (
	"strings"
	"testing"

	"indexer/index/indextest"

	"github.com/cockroachdb/datadriven"
)

// TestSpec runs testdata/spec: "analyze lang=XX" gives the tokens of each line of the input.
func TestAnalysisSpec(t *testing.T) {
	datadriven.Walk(t, "testdata/spec", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "analyze" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return specAnalyze(d)
		})
	})
}

func specAnalyze(d *datadriven.TestData) string {
	var lang string
	for _, a := range d.CmdArgs {
		if a.Key == "lang" {
			lang = a.Vals[0]
		}
	}
	var b strings.Builder
	for _, l := range strings.Split(d.Input, "\n") {
		b.WriteString(strings.TrimSpace(new(analyzer).column(l, StemmerFor(lang))) + "\n")
	}
	return indextest.Visible(b.String())
}
