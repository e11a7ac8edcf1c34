package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/recoverybench"
)

const recoveryHelp = `
Repeat the idea of Figure 10 of the Percolator paper: throughput while a third of the
workers is killed and started again. All processes are the program itself: two oracles,
workers, and a loader that is fed with generated pages, so that there is always work.

First all workers run undisturbed. Then comes what the arguments name, in this order
(workers oracle, if there are none):

  workers  a third of the workers is killed (SIGKILL), including the one that holds the
           leases, and is started again after --phase
  oracle   the oracle that serves is killed, the other one takes over, and the killed one
           is started again to stand by
  oracles  both oracles are killed, and one is started again at once

Each part lasts for --phase. Then no more pages are loaded. When all work is done, the
digest has to be that of one process that has replayed the same pages, and verify must
find no difference; otherwise the benchmark fails.

Rows are those that observers have handled that any worker may run, and pages are rows of
the observer that interprets pages. Workers are asked ten times a second, so times are
accurate to 0.2 s. The processes reach the database through a proxy that delays what passes,
so that a few cores are enough for all workers. The run leaves a schema recovery_… in the
database.`

var recoveryKinds = []string{recoverybench.Workers, recoverybench.Oracle, recoverybench.Oracles}

func (a *app) recoveryCommand() *cobra.Command {
	var o recoverybench.Options
	var svg string
	cmd := &cobra.Command{
		Use:   "recovery [workers|oracle|oracles]…",
		Short: "Throughput while workers and oracles are killed, and what is left at the end",
		Long:  strings.TrimSpace(recoveryHelp),
		Example: examples("recovery --store postgres://indexer@db.example/test --svg figure10.svg",
			"recovery --store postgres://indexer@db.example/test --processes 12 --phase 2m workers",
			"recovery --store postgres://indexer@db.example/test --phase 10s oracle oracle oracles"),
		ValidArgs: recoveryKinds,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Kill = args; len(args) == 0 {
				o.Kill = []string{recoverybench.Workers, recoverybench.Oracle}
			}
			if err := checkRecovery(cmd, &o); err != nil {
				return err
			}
			o.Log = a.stderr
			res, err := recoverybench.Run(cmd.Context(), o)
			if res == nil || len(res.Intervals) == 0 {
				return err
			}
			// What was measured is printed even if the check at the end has failed.
			return errors.Join(err, a.printWithPlot(res, svg))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Store, "store", "", "`URL` of a PostgreSQL database")
	flags.StringVar(&o.Program, "program", "", "`file` of the program indexer; it is built if none is given")
	flags.IntVar(&o.Workers, "processes", 6, "`number` of workers")
	flags.IntVar(&o.Threads, "threads", 2, "`number` of observers that a worker runs at a time")
	flags.DurationVar(&o.Phase, "phase", 30*time.Second, "how long each part of the run lasts")
	flags.DurationVar(&o.Interval, "interval", 2*time.Second, "`length` of the intervals of the table and the plot")
	flags.DurationVar(&o.Delay, "delay", 10*time.Millisecond, "how much longer a round trip to the database takes")
	flags.IntVar(&o.Pages, "pages", 100_000, "`number` of pages that there are to load at most")
	flags.IntVar(&o.Backlog, "backlog", 500, "`number` of rows that may wait before the loader pauses")
	flags.StringVar(&svg, "svg", "", "`file` for a plot")
	flags.Uint64Var(&o.Seed, "seed", 1, "`number` that decides about pages")
	return cmd
}

// checkRecovery checks the options, and makes the path of the program absolute, because its
// processes have another working directory.
func checkRecovery(cmd *cobra.Command, o *recoverybench.Options) (err error) {
	for _, what := range o.Kill {
		if !slices.Contains(recoveryKinds, what) {
			return usage(cmd, "%q is nothing that can be killed; there are %s", what, strings.Join(recoveryKinds, ", "))
		}
	}
	switch {
	case o.Store == "":
		return usage(cmd, "give a PostgreSQL database that worker processes can share: --store postgres://USER@HOST/DATABASE")
	case o.Phase < 100*time.Millisecond || o.Phase > time.Hour:
		return usage(cmd, "--phase is from 100ms to 1h")
	case o.Interval < 200*time.Millisecond || o.Interval > time.Hour:
		return usage(cmd, "--interval is from 200ms to 1h")
	case o.Delay < 0 || o.Delay > time.Second:
		return usage(cmd, "--delay is from 0 to 1s")
	}
	if err := checkDatabase(cmd, o.Store); err != nil {
		return err
	}
	if o.Program != "" {
		if o.Program, err = filepath.Abs(o.Program); err != nil {
			return err
		}
	}
	return inRange(cmd, bound{"processes", o.Workers, 2, 64}, bound{"threads", o.Threads, 1, 1000}, bound{"pages", o.Pages, 100, 10_000_000}, bound{"backlog", o.Backlog, 1, 1_000_000})
}
