package pipelinebench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/bench/webgen"
)

// GrowthOptions of RunGrowth.
type GrowthOptions struct {
	Files    []string // the pages to measure; none: measuredPages generated ones
	Sizes    []int    // how many others there are before, ascending
	Others   string   // a directory of WARC files that are the others instead of generated pages
	Settings []string
	Profile  string // keeps the processor profiles in files of this name and the number of others
	Log      io.Writer
}

// measuredPages is how many pages are loaded on top of the others, unless files are
// given.
const measuredPages = 5000

// Growth tells how the cost of a page depends on how many pages there are already.
type Growth struct {
	Steps []GrowthStep `json:"steps"`
}

// GrowthStep is the load of the same pages on top of some others.
type GrowthStep struct {
	Others int `json:"others"` // responses that were loaded before
	// Base is the load of the others, since the step before. nil if there were none.
	Base *Side `json:"base,omitempty"`
	Top  *Side `json:"top"`
	// CPUms is the processor time of a response in milliseconds, and Times how many
	// times that of the first step it is.
	CPUms float64 `json:"cpu_ms_per_response"`
	Times float64 `json:"times_first"`
}

// RunGrowth loads others into a directory, step by step. Between the steps it loads
// the pages to measure into a copy of the directory, so each step begins with the
// others alone.
func RunGrowth(ctx context.Context, o GrowthOptions) (*Growth, error) {
	return inTemp(func(dir string) (*Growth, error) {
		g := &growing{GrowthOptions: o, dir: dir, base: filepath.Join(dir, "base")}
		if err := g.run(ctx); err != nil {
			return nil, fmt.Errorf("bench pipeline: %w", err)
		}
		return &Growth{g.steps}, nil
	})
}

type growing struct {
	GrowthOptions
	dir, base string
	others    int // in base
	steps     []GrowthStep
}

func (g *growing) run(ctx context.Context) error {
	if err := os.Mkdir(g.base, 0o700); err != nil {
		return err
	}
	if len(g.Files) == 0 {
		res, err := webgen.New(1, measuredPages, 0, webgen.DefaultWords).Write(ctx, filepath.Join(g.dir, "measured"), io.Discard)
		if err != nil {
			return err
		}
		g.Files = res.Files
	}
	if g.Others != "" {
		return g.onFiles(ctx)
	}
	for i, size := range g.Sizes {
		if err := g.grow(ctx, i, size-g.others); err != nil {
			return err
		}
	}
	return nil
}

// onFiles measures on top of nothing, and on top of all files of a directory.
func (g *growing) onFiles(ctx context.Context) error {
	files, err := filesIn(g.Others)
	if err != nil {
		return err
	}
	if err := g.step(ctx, nil); err != nil {
		return err
	}
	base, err := g.load(ctx, g.base, files, "")
	if err != nil {
		return err
	}
	return g.step(ctx, base)
}

// grow adds so many generated pages to the others, and measures.
func (g *growing) grow(ctx context.Context, i, pages int) error {
	var base *Side
	if pages > 0 {
		web := filepath.Join(g.dir, fmt.Sprintf("others-%d", i))
		// A seed of its own makes hosts of their own.
		res, err := webgen.New(uint64(i+2), pages, 0, webgen.DefaultWords).Write(ctx, web, io.Discard)
		if err != nil {
			return err
		}
		if base, err = g.load(ctx, g.base, res.Files, ""); err != nil {
			return err
		}
		if err := os.RemoveAll(web); err != nil {
			return err
		}
	}
	return g.step(ctx, base)
}

// step measures on top of what is in base now.
func (g *growing) step(ctx context.Context, base *Side) error {
	if base != nil {
		g.others += base.Pages
		fmt.Fprintf(g.Log, "%d others: %.2f s of processor time\n", base.Pages, base.CPU)
	}
	profile := g.Profile
	if profile != "" {
		profile = fmt.Sprintf("%s-%d", profile, g.others)
	}
	top, err := inTemp(func(dir string) (*Side, error) {
		if err := os.CopyFS(dir, os.DirFS(g.base)); err != nil {
			return nil, err
		}
		return g.load(ctx, dir, g.Files, profile)
	})
	if err != nil {
		return err
	}
	s := GrowthStep{Others: g.others, Base: base, Top: top, CPUms: top.cpuMS(), Times: 1}
	if len(g.steps) > 0 && g.steps[0].CPUms > 0 {
		s.Times = s.CPUms / g.steps[0].CPUms
	}
	g.steps = append(g.steps, s)
	fmt.Fprintf(g.Log, "%d responses on top of %d others: %.2f s of processor time, %.2f ms a response\n", top.Pages, g.others, top.CPU, s.CPUms)
	return nil
}

func (g *growing) load(ctx context.Context, dir string, files []string, profile string) (*Side, error) {
	return Apart(ctx, SideOptions{Kind: Pipeline, Dir: dir, Files: files, Profile: profile}, g.Settings)
}

// cpuMS is the processor time of a response in milliseconds.
func (s *Side) cpuMS() float64 { return 1000 * s.CPU / float64(max(s.Pages, 1)) }
