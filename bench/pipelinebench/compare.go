package pipelinebench

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
)

// CompareOptions of Compare.
type CompareOptions struct {
	Old    string // another version of this program
	Files  []string
	Rounds int
	Log    io.Writer
}

// Comparison says what loading the same pages costs with two versions of the program.
type Comparison struct {
	Pages   int      `json:"responses"`
	Figures []Figure `json:"figures"`
}

// Figure is a cost of both. The least of all rounds counts: other work on the machine
// can only add to it.
type Figure struct {
	Name  string  `json:"name"`
	Old   float64 `json:"old"`
	New   float64 `json:"new"`
	Ratio float64 `json:"ratio"`
	// Guards: a doubling of this figure is an error. The others depend too much on when
	// background work runs, and processor time on chance if there is little of it.
	Guards bool `json:"guards"`
}

// figures are what Compare compares.
var figures = []struct {
	name   string
	guards bool
	least  float64 // less than this guards nothing
	of     func(*Side) float64
}{
	{"processor time, s", true, 1, func(s *Side) float64 { return s.CPU }},
	{"allocated, MB", true, 0, func(s *Side) float64 { return float64(s.Allocated) / 1e6 }},
	{"allocated objects, 1000s", true, 0, func(s *Side) float64 { return float64(s.Objects) / 1e3 }},
	{"written, MB", false, 0, func(s *Side) float64 { return mb(s.Written) }},
	{"kept, MB", false, 0, func(s *Side) float64 { return mb(s.Kept) }},
	{"resident without files, MB", false, 0, func(s *Side) float64 { return mb(s.Resident.Own) }},
	{"time, s", false, 0, func(s *Side) float64 { return s.Seconds }},
}

// Compare loads the files with two programs alternately.
func Compare(ctx context.Context, o CompareOptions) (*Comparison, error) {
	var sides [2][]*Side
	for round := range max(o.Rounds, 1) {
		for turn := range 2 {
			i := (turn + round) % 2
			side, err := measure.InTemp(func(dir string) (*Side, error) { return o.side(ctx, i == 1, dir) })
			if err != nil {
				return nil, fmt.Errorf("compare: %w", err)
			}
			sides[i] = append(sides[i], side)
			fmt.Fprintf(o.Log, "round %d: %s  %.2f s of processor time\n", round+1, []string{"old", "new"}[i], side.CPU)
		}
	}
	return compared(sides[0], sides[1]), nil
}

// compared compares the rounds of both programs.
func compared(old, now []*Side) *Comparison {
	c := &Comparison{Pages: now[0].Pages}
	for _, f := range figures {
		least := func(sides []*Side) float64 {
			list := make([]float64, len(sides))
			for i, s := range sides {
				list[i] = f.of(s)
			}
			return slices.Min(list)
		}
		figure := Figure{Name: f.name, Old: least(old), New: least(now)}
		figure.Guards = f.guards && figure.Old >= f.least
		if figure.Old > 0 { // not known on some systems
			figure.Ratio = figure.New / figure.Old
		}
		c.Figures = append(c.Figures, figure)
	}
	return c
}

// side measures the pipeline of one of the programs.
func (o *CompareOptions) side(ctx context.Context, own bool, dir string) (*Side, error) {
	args := append([]string{"side", "--kind", Pipeline, "--data", dir, "--"}, o.Files...)
	cmd, err := exec.CommandContext(ctx, o.Old, args...), error(nil)
	if own {
		cmd, err = measure.Self(ctx, args...)
	}
	if err != nil {
		return nil, err
	}
	side, err := sideFrom(cmd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return side, nil
}

// Doubled lists the guarded figures that have doubled.
func (c *Comparison) Doubled() (names []string) {
	for _, f := range c.Figures {
		if f.Guards && f.Ratio > 2 {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Text is the comparison as people read it.
func (c *Comparison) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d responses\n%-28s %10s %10s %7s\n", c.Pages, "", "old", "new", "new/old")
	for _, f := range c.Figures {
		fmt.Fprintf(&b, "%-28s %10.2f %10.2f %7.2f\n", f.Name, f.Old, f.New, f.Ratio)
	}
	return b.String()
}
