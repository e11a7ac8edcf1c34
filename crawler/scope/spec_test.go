package scope

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// TestScope shows what is in scope. Commands:
//
//	scope [kind=KIND] [depth=N]   begins a scope; lines are "seed URL", "include PATTERN", "exclude PATTERN"
//	decide                        a line is "DEPTH URL"
//	counts
func TestScope(t *testing.T) {
	datadriven.Walk(t, "testdata/scope", func(t *testing.T, path string) {
		var s *Scope
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "scope":
				var err error
				if s, err = newScope(t, d); err != nil {
					return err.Error() + "\n"
				}
				return ""
			case "decide":
				return eachLine(d.Input, func(line string) string {
					depth, url, _ := strings.Cut(line, " ")
					n, err := strconv.Atoi(depth)
					if err != nil {
						t.Fatal(err)
					}
					u := page.MustParseURL(url)
					return show(u, s.Decide(u, n))
				})
			case "counts":
				return showCounts(s.Counts())
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func newScope(t *testing.T, d *datadriven.TestData) (*Scope, error) {
	config := Config{MaxDepth: NoMaxDepth}
	kind := "host"
	d.MaybeScanArgs(t, "kind", &kind)
	d.MaybeScanArgs(t, "depth", &config.MaxDepth)
	var err error
	if config.Kind, err = ParseKind(kind); err != nil {
		return nil, err
	}
	var seeds []page.URL
	for line := range strings.Lines(d.Input) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "seed":
			seeds = append(seeds, page.MustParseURL(rest))
		case "include":
			config.Include = append(config.Include, rest)
		case "exclude":
			config.Exclude = append(config.Exclude, rest)
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return New(config, seeds)
}

// specNow is the day on which the specs take place.
var specNow = time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)

// TestTraps shows what is taken for a trap, and what is not, on 2026-06-15 and with
// the default thresholds but for those given. Commands:
//
//	traps [queries=N] [combinations=N]   begins anew
//	check                                a URL a line
//	range from=N to=N                    each URL with %d; shows the first refused
//	explain                              a URL a line
//	counts
func TestTraps(t *testing.T) {
	datadriven.Walk(t, "testdata/traps", func(t *testing.T, path string) {
		traps := mustTraps(t, specConfig(), nil)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "traps":
				config := specConfig()
				d.MaybeScanArgs(t, "queries", &config.MaxQueries)
				d.MaybeScanArgs(t, "combinations", &config.MaxCombinations)
				traps = mustTraps(t, config, nil)
				return ""
			case "check":
				return eachLine(d.Input, func(line string) string {
					u := page.MustParseURL(line)
					return show(u, check(t, traps.Check, u))
				})
			case "range":
				var from, to int
				d.ScanArgs(t, "from", &from)
				d.ScanArgs(t, "to", &to)
				return eachLine(d.Input, func(line string) string { return firstRefused(t, traps, line, from, to) })
			case "explain":
				return eachLine(d.Input, func(line string) string {
					u := page.MustParseURL(line)
					return show(u, check(t, traps.Explain, u))
				})
			case "counts":
				return showCounts(traps.Counts())
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func specConfig() TrapConfig {
	config := DefaultTrapConfig()
	config.Now = func() time.Time { return specNow }
	return config
}

func mustTraps(t testing.TB, config TrapConfig, taken Taken) *Traps {
	t.Helper()
	traps, err := NewTraps(config, taken)
	if err != nil {
		t.Fatal(err)
	}
	return traps
}

func check(t testing.TB, f func(context.Context, page.URL) (Decision, error), u page.URL) Decision {
	t.Helper()
	d, err := f(context.Background(), u)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func firstRefused(t *testing.T, traps *Traps, format string, from, to int) string {
	refused, shown := 0, "none refused\n"
	for n := from; n <= to; n++ {
		u := page.MustParseURL(strings.ReplaceAll(format, "%d", strconv.Itoa(n)))
		if d := check(t, traps.Check, u); !d.OK {
			if refused++; refused == 1 {
				shown = show(u, d)
			}
		}
	}
	return fmt.Sprintf("%srefused: %d of %d\n", shown, refused, to-from+1)
}

func show(u page.URL, d Decision) string {
	sign := "+"
	if !d.OK {
		sign = "-"
	}
	name := string(u)
	if len(name) > 100 {
		name = name[:100] + "..."
	}
	out := fmt.Sprintf("%s %s\n    %s: %s\n", sign, name, d.Rule, d.Why)
	if d.Instead != "" {
		out += fmt.Sprintf("    instead %s\n", d.Instead)
	}
	return out
}

func showCounts(counts map[string]int64) string {
	var lines []string
	for rule, n := range counts {
		lines = append(lines, fmt.Sprintf("%s %d\n", rule, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func eachLine(text string, f func(line string) string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(f(strings.TrimSpace(line)))
	}
	return out.String()
}
