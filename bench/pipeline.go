package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/pipelinebench"
)

const pipelineHelp = `
Replay WARC files into an empty directory, and compare the processor time of a response
with two indexers that do less:

  plain   reads the files, parses pages with goquery, and writes an FTS5 table with a
          stock tokenizer; it shares no code with the program
  bulk    our parser and our index files, without a repository

All run alternately, --rounds times, each in a separate process; medians count. The
output has processor time and responses per second, bytes written to the disk for each
byte kept, allocations and resident memory, and where the processor time of the pipeline
went: by part of the program, from a profile, and by what the work was done for. With
--without-ranks, the pipeline also runs without ranks.

With --growth, the files, or 5,000 generated pages, are replayed on top of the given
numbers of generated pages instead, and the costs of a response are compared. With
--others, they are replayed on top of nothing, and on top of the WARC files of a
directory; the command "bench web" makes such files.`

func (a *app) pipelineCommand() *cobra.Command {
	var o pipelinebench.Options
	var g pipelinebench.GrowthOptions
	cmd := &cobra.Command{
		Use:   "pipeline [FILE.warc[.gz]…]",
		Short: "What loading a page costs, compared with plain indexing, and as the repository grows",
		Long:  strings.TrimSpace(pipelineHelp),
		Example: examples("pipeline crawl.warc.gz", "pipeline --rounds 5 --workers 2 --format json crawl.warc.gz",
			"pipeline --growth 0,10000,100000", "pipeline --others copies crawl.warc.gz"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inRange(cmd, bound{"rounds", o.Rounds, 1, 100}); err != nil {
				return err
			}
			grows := len(g.Sizes) > 0 || g.Others != ""
			switch {
			case len(g.Sizes) > 0 && g.Others != "":
				return usage(cmd, "give --growth or --others, not both")
			case !slices.IsSorted(g.Sizes) || len(g.Sizes) > 0 && g.Sizes[0] < 0:
				return usage(cmd, "--growth takes ascending numbers of pages")
			case g.InPlace && (len(g.Sizes) == 0 || len(args) > 0):
				return usage(cmd, "--in-place takes --growth, and no files: it measures with generated pages")
			case len(args) == 0 && len(g.Sizes) == 0:
				return usage(cmd, "name WARC files to measure, or give --growth")
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			settings := a.sideSettings(cmd)
			if grows {
				g.Files, g.Settings, g.Profile, g.Log = args, settings, o.Profile, a.stderr
				res, err := pipelinebench.RunGrowth(cmd.Context(), g)
				return a.print(err, res, res.Text)
			}
			o.Files, o.Settings, o.Log = args, settings, a.stderr
			res, err := pipelinebench.Run(cmd.Context(), o)
			return a.print(err, res, res.Text)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Rounds, "rounds", 3, "how often all sides are run")
	flags.BoolVar(&o.Unranked, "without-ranks", false, "measure the pipeline without ranks too")
	flags.StringVar(&o.Profile, "profile", "", "`file` that keeps the processor profile of the pipeline, for go tool pprof")
	flags.IntSliceVar(&g.Sizes, "growth", nil, "`numbers` of generated pages to load on top of, ascending")
	flags.BoolVar(&g.InPlace, "in-place", false, "with --growth, measure in the same directory, with new pages each time, instead of in a copy of it")
	flags.StringVar(&g.Others, "others", "", "`directory` of WARC files to load on top of")
	pipelineFlags(cmd)
	return cmd
}

// sideSettings are the arguments that give a process of its own the settings of this
// command. It inherits the environment.
func (a *app) sideSettings(cmd *cobra.Command) (args []string) {
	for _, name := range []string{"workers", "commit", "rank-tolerance", "sync"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			args = append(args, fmt.Sprintf("--%s=%s", name, f.Value))
		}
	}
	if a.configFile != "" {
		args = append(args, "--config", a.configFile)
	}
	return args
}

// sideCommand measures one side of bench pipeline, which starts it in a process of its
// own.
func (a *app) sideCommand() *cobra.Command {
	var o pipelinebench.SideOptions
	cmd := &cobra.Command{
		Use:    "side FILE.warc[.gz]…",
		Short:  "Measure one side of bench pipeline in the directory --data",
		Hidden: true,
		Args:   needsWARC,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Kind != pipelinebench.Plain { // the plain side is a straightforward program
				a.cfg.LimitMemory()
			}
			o.Files, o.Dir, o.Repo = args, a.cfg.Data, a.repositoryOptions()
			a.cfg.Format = "json"
			side, err := pipelinebench.RunSide(cmd.Context(), o)
			return a.print(err, side, nil)
		},
	}
	cmd.Flags().StringVar(&o.Kind, "kind", pipelinebench.Pipeline, "what loads the files")
	cmd.Flags().StringVar(&o.Profile, "profile", "", "`file` for the processor profile")
	pipelineFlags(cmd)
	return cmd
}
