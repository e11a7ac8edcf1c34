package pipelinebench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/webgen"
)

// GrowthOptions of RunGrowth.
type GrowthOptions struct {
	Files    []string // the pages to measure; none: measuredPages generated ones
	Sizes    []int    // how many others there are before, ascending
	Others   string   // a directory of WARC files that are the others instead of generated pages
	Settings []string
	Profile  string // keeps the processor profiles in files of this name and the number of others
	InPlace  bool   // measures with new pages in the same directory instead of a copy of it
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
// others alone. InPlace needs half of the disk: each step loads other generated pages into
// the directory itself, and they count as others from then on.
func RunGrowth(ctx context.Context, o GrowthOptions) (*Growth, error) {
	return measure.InTemp(func(dir string) (*Growth, error) {
		g := &growing{GrowthOptions: o, dir: dir, base: filepath.Join(dir, "base")}
		if err := g.run(ctx); err != nil {
			return nil, fmt.Errorf("pipeline: %w", err)
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
	if len(g.Files) == 0 && !g.InPlace {
		var err error
		if g.Files, err = g.generate(ctx, "measured", 1, measuredPages); err != nil {
			return err
		}
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
	base, err := g.load(ctx, g.base, files, g.profileOf("base"))
	if err != nil {
		return err
	}
	return g.step(ctx, base)
}

// generate writes a web of some pages. A seed of its own makes hosts of their own.
func (g *growing) generate(ctx context.Context, name string, seed uint64, pages int) ([]string, error) {
	res, err := webgen.New(seed, pages, 0, webgen.DefaultWords).Write(ctx, filepath.Join(g.dir, name), io.Discard)
	if err != nil {
		return nil, err
	}
	return res.Files, nil
}

// profileOf names the file for the profile of a load; "" if none is kept.
func (g *growing) profileOf(name string) string {
	if g.Profile == "" {
		return ""
	}
	return g.Profile + "-" + name
}

// grow adds the given number of generated pages to the others, and measures.
func (g *growing) grow(ctx context.Context, i, pages int) error {
	var base *Side
	if pages > 0 {
		name := fmt.Sprintf("others-%d", i)
		files, err := g.generate(ctx, name, uint64(i+2), pages)
		if err != nil {
			return err
		}
		if base, err = g.load(ctx, g.base, files, g.profileOf(fmt.Sprintf("base-%d", g.others+pages))); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(g.dir, name)); err != nil {
			return err
		}
	}
	return g.step(ctx, base)
}

// step measures on top of what is in base now.
func (g *growing) step(ctx context.Context, base *Side) error {
	if base != nil {
		g.others += base.Pages
		fmt.Fprintf(g.Log, "%d others: %.2f s of processor time, %.2f ms and %.2f ms of time a response; %.0f MB resident and %.0f mapped; %.0f MB kept, %.0f written\n",
			base.Pages, base.CPU, base.cpuMS(), 1000*base.Seconds/float64(max(base.Pages, 1)), mb(base.Resident.Own), mb(base.Resident.Mapped), mb(base.Kept), mb(base.Written))
		var parts strings.Builder
		cpuText(&parts, base, base.StageParts)
		fmt.Fprint(g.Log, parts.String())
	}
	top, err := g.measure(ctx, g.profileOf(fmt.Sprint(g.others)))
	if err != nil {
		return err
	}
	s := GrowthStep{Others: g.others, Base: base, Top: top, CPUms: top.cpuMS(), Times: 1}
	if len(g.steps) > 0 && g.steps[0].CPUms > 0 {
		s.Times = s.CPUms / g.steps[0].CPUms
	}
	g.steps = append(g.steps, s)
	if g.InPlace {
		g.others += top.Pages
	}
	fmt.Fprintf(g.Log, "%d responses on top of %d others: %.2f s of processor time, %.2f ms a response\n", top.Pages, s.Others, top.CPU, s.CPUms)
	return nil
}

// measure loads the pages to measure on top of what is in base.
func (g *growing) measure(ctx context.Context, profile string) (*Side, error) {
	if g.InPlace {
		name := fmt.Sprintf("measured-%d", len(g.steps))
		files, err := g.generate(ctx, name, uint64(1_000_000+len(g.steps)), measuredPages)
		if err != nil {
			return nil, err
		}
		top, err := g.load(ctx, g.base, files, profile)
		if err != nil {
			return nil, err
		}
		return top, os.RemoveAll(filepath.Join(g.dir, name))
	}
	return measure.InTemp(func(dir string) (*Side, error) {
		if err := os.CopyFS(dir, os.DirFS(g.base)); err != nil {
			return nil, err
		}
		return g.load(ctx, dir, g.Files, profile)
	})
}

func (g *growing) load(ctx context.Context, dir string, files []string, profile string) (*Side, error) {
	return apart(ctx, SideOptions{Kind: Pipeline, Dir: dir, Files: files, Profile: profile}, g.Settings)
}

// cpuMS is the processor time of a response in milliseconds.
func (s *Side) cpuMS() float64 { return 1000 * s.CPU / float64(max(s.Pages, 1)) }
