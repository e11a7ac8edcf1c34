package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/renderbench"
	"github.com/webindexer/indexer/render"
)

const renderHelp = `
Replay WARC files alternately with rendering off, auto and all, each time into an empty
directory. The output has the processor time per response, without the browser's, and its
ratio to that of the mode off; renderings per second; and the browser's processor time per
rendering. Rendering all pages of a large file takes long: about half a second of a core
for each.

With --style, load that many pages that need one style sheet, and change it. The output
says how long other pages take to be searchable before that, and while the pages of the
style sheet are rendered again, which begins when other pages have arrived for 25 s. A
function that takes --cost stands in for the browser.`

func (a *app) renderCommand() *cobra.Command {
	var o renderbench.Options
	var s renderbench.StyleOptions
	cmd := &cobra.Command{
		Use:     "render [FILE.warc[.gz]…]",
		Short:   "What rendering costs, by mode, and when a resource of many pages changes",
		Long:    strings.TrimSpace(renderHelp),
		Example: examples("render crawl.warc.gz", "render --modes off,auto --rounds 5 crawl.warc.gz", "render --style 100000 --cost 5ms"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := inRange(cmd, bound{"rounds", o.Rounds, 1, 100}, bound{"style", s.Pages, 0, 10_000_000}, bound{"others", s.Others, 1, 1_000_000})
			switch {
			case err != nil:
				return err
			case s.Every <= 0 || s.Cost < 0:
				return usage(cmd, "--every and --cost are durations, and --every is not 0")
			case (s.Pages > 0) == (len(args) > 0):
				return usage(cmd, "name WARC files to measure, or give --style")
			case s.Pages > 0:
				a.cfg.LimitMemory()
				s.Repo, s.Log = a.repositoryOptions(), a.stderr
				res, err := renderbench.RunStyle(cmd.Context(), s)
				return a.print(err, res, res.Text)
			}
			o.Files = args
			return a.renderModes(cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.Modes, "modes", []string{"off", "auto", "all"}, "`modes` to measure; the first one is what the others are compared with")
	flags.IntVar(&o.Rounds, "rounds", 3, "how often all modes are run")
	flags.IntVar(&s.Pages, "style", 0, "`number` of pages that need the style sheet")
	flags.IntVar(&s.Others, "others", 1200, "`number` of other pages that are loaded before the style sheet changes, and after")
	flags.DurationVar(&s.Every, "every", 50*time.Millisecond, "`time` between two of them")
	flags.DurationVar(&s.Cost, "cost", time.Millisecond, "`time` that a rendering takes")
	pipelineFlags(cmd)
	return cmd
}

func (a *app) renderModes(cmd *cobra.Command, o renderbench.Options) (err error) {
	modes := []string{"off", "auto", "all"}
	for _, mode := range o.Modes {
		if !slices.Contains(modes, mode) {
			return usage(cmd, "there is no mode %q; --modes takes %s", mode, strings.Join(modes, ", "))
		}
	}
	if len(o.Modes) == 0 {
		return usage(cmd, "--modes takes %s", strings.Join(modes, ", "))
	}
	if err := checkFiles(cmd, o.Files); err != nil {
		return err
	}
	if slices.ContainsFunc(o.Modes, func(mode string) bool { return mode != "off" }) {
		if o.Browser, err = render.Find(a.cfg.Browser); err != nil {
			return err
		}
	}
	a.cfg.LimitMemory()
	o.Repo, o.Log = a.repositoryOptions(), a.stderr
	res, err := renderbench.Run(cmd.Context(), o)
	return a.print(err, res, res.Text)
}
