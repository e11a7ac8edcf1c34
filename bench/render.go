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
Replay WARC files with rendering off, auto and all, in turns, each time into an empty
directory. Printed are processor time a response, without the browser's, and beside that
of the mode off; renderings a second; and processor time of the browser a rendering.
Rendering all pages of a large file takes long: about half a second of a core for each.

With --style, load so many pages that need one style sheet, and change it. Printed is how
long other pages take to be searchable before that, and while the pages of the style sheet
are rendered again. A function that takes --cost stands in for the browser.`

func (a *app) renderCommand() *cobra.Command {
	var o renderbench.Options
	var s renderbench.StyleOptions
	cmd := &cobra.Command{
		Use:     "render [FILE.warc[.gz]…]",
		Short:   "What rendering costs, by mode, and when a resource of many pages changes",
		Long:    strings.TrimSpace(renderHelp),
		Example: examples("render crawl.warc.gz", "render --modes off,auto --rounds 5 crawl.warc.gz", "render --style 100000 --cost 5ms"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inRange(cmd, bound{"rounds", o.Rounds, 1, 100}); err != nil {
				return err
			}
			if (s.Pages > 0) == (len(args) > 0) {
				return usage(cmd, "name WARC files to measure, or give --style")
			}
			a.cfg.LimitMemory()
			if s.Pages > 0 {
				s.Repo, s.Log = a.repositoryOptions(), a.stderr
				res, err := renderbench.RunStyle(cmd.Context(), s)
				return a.print(err, res, res.Text)
			}
			for _, mode := range o.Modes {
				if !slices.Contains([]string{"off", "auto", "all"}, mode) {
					return usage(cmd, "there is no mode %q; --modes takes off, auto and all", mode)
				}
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			if slices.ContainsFunc(o.Modes, func(mode string) bool { return mode != "off" }) {
				path, err := render.Find(a.cfg.Browser)
				if err != nil {
					return err
				}
				o.Browser = path
			}
			o.Files, o.Repo, o.Log = args, a.repositoryOptions(), a.stderr
			res, err := renderbench.Run(cmd.Context(), o)
			return a.print(err, res, res.Text)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.Modes, "modes", []string{"off", "auto", "all"}, "`modes` to measure; the first one is what the others are compared with")
	flags.IntVar(&o.Rounds, "rounds", 3, "how often all modes are run")
	flags.IntVar(&s.Pages, "style", 0, "`number` of pages that need the style sheet")
	flags.IntVar(&s.Others, "others", 200, "`number` of other pages that are loaded before the style sheet changes, and after")
	flags.DurationVar(&s.Every, "every", 50*time.Millisecond, "`time` between two of them")
	flags.DurationVar(&s.Cost, "cost", time.Millisecond, "`time` that a rendering takes")
	pipelineFlags(cmd)
	return cmd
}
