package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/simbench"
)

const simulateHelp = `
Simulate what this machine is too small for, with deterministic seeds:

  scanning  workers that scan a table for notifications, without and with the paper's cure
            for platooning: a worker that meets another one jumps to a random place
  oracle    workers that take timestamps, each with a request for every transaction, or
            with one pending request that carries all that wait

docs/scale.md says where the times in the models come from.`

func (a *app) simulateCommand() *cobra.Command {
	names := []string{"oracle", "scanning"}
	var seed uint64
	var quick bool
	var dir string
	cmd := &cobra.Command{
		Use:       "simulate [scanning|oracle]…",
		Short:     "Scanning for notifications and taking timestamps, by simulation",
		Long:      strings.TrimSpace(simulateHelp),
		Example:   examples("simulate", "simulate --svg docs/images scanning", "simulate --format json oracle"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			results := make(map[string]plotted)
			for _, name := range args {
				if !slices.Contains(names, name) {
					return usage(cmd, "there is no simulation %q; there are %s", name, strings.Join(names, ", "))
				}
			}
			if len(args) == 0 || slices.Contains(args, "scanning") {
				results["scanning"] = simbench.Platooning(seed, quick)
			}
			if len(args) == 0 || slices.Contains(args, "oracle") {
				results["oracle"] = simbench.Batching(seed, quick)
			}
			var texts []string
			for _, name := range names {
				if r := results[name]; r != nil {
					texts = append(texts, r.Text())
				}
			}
			err := a.print(nil, results, func() string { return strings.Join(texts, "\n") })
			for name, r := range results {
				if dir != "" {
					err = errors.Join(err, writePlot(filepath.Join(dir, name+".svg"), r))
				}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&seed, "seed", 1, "`number` that decides about everything drawn")
	flags.BoolVar(&quick, "quick", false, "a rough look")
	flags.StringVar(&dir, "svg", "", "`directory` for plots: scanning.svg and oracle.svg")
	return cmd
}
