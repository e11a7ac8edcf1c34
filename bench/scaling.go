package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/scalebench"
)

const scalingHelp = `
Measure how throughput grows with the number of workers (Figure 9 of the Percolator
paper). Each call of the store takes --delay longer, so that a few cores are enough for
many workers, and the output shows what workers cost each other.

  transactions  read two of 20,000 rows and write both
  pages         generated pages, from loaded until every observer that any worker may run
                has handled them; the middle four fifths of the work count

Without --store, the workers share a table in the memory of this process, and an oracle
that they ask over the network. With --store, each worker is a separate process on
PostgreSQL. It reaches the server through a proxy that delays what passes, so statements
in one batch are delayed once. Each measurement leaves a schema scaling_… in the database.

Calls each are calls of the store for a transaction or a page. Below them is what else can
make workers slow: how long a call waited, which is more than the delay on a busy machine,
what the efficiency would be if all calls had taken as long as in the first row, and
how many cores all workers kept busy.

Rank and index files have one owner at a time, however many workers there are. They are
left out.`

// scalingWork is what workers can do.
var scalingWork = []string{scalebench.Transactions, scalebench.Pages}

func (a *app) scalingCommand() *cobra.Command {
	var o scalebench.Options
	var seconds int
	var svg string
	cmd := &cobra.Command{
		Use:     "scaling [transactions|pages]…",
		Short:   "Throughput with 1, 2, 4 and 8 workers on a store that is far away",
		Long:    strings.TrimSpace(scalingHelp),
		Example: examples("scaling --svg figure9.svg", "scaling --delay 5ms --sizes 1,8 pages", "scaling --store postgres://indexer@db.example/test"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Work = args
			if len(args) == 0 {
				o.Work = scalingWork
			}
			if err := checkScaling(cmd, &o, seconds); err != nil {
				return err
			}
			o.Slice, o.Log = time.Duration(seconds)*time.Second, a.stderr
			res, err := scalebench.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printWithPlot(res, svg)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&o.Workers, "sizes", []int{1, 2, 4, 8}, "`numbers` of workers, ascending")
	flags.DurationVar(&o.Delay, "delay", 2*time.Millisecond, "how much longer each call of the store takes")
	flags.IntVar(&o.Threads, "threads", 2, "`number` of transactions, or of observers, that a worker runs at a time")
	flags.IntVar(&seconds, "seconds", 10, "`seconds` for which transactions are measured")
	flags.IntVar(&o.Pages, "pages", 600, "`number` of pages that are indexed")
	flags.StringVar(&o.Store, "store", "", "`URL` of a PostgreSQL database for worker processes")
	flags.StringVar(&svg, "svg", "", "`file` for a plot")
	flags.Uint64Var(&o.Seed, "seed", 1, "`number` that decides about pages and rows")
	return cmd
}

// checkScaling checks the options.
func checkScaling(cmd *cobra.Command, o *scalebench.Options, seconds int) error {
	for _, work := range o.Work {
		if !slices.Contains(scalingWork, work) {
			return usage(cmd, "there is no work %q; there are %s", work, strings.Join(scalingWork, ", "))
		}
	}
	switch {
	case len(o.Workers) == 0 || !slices.IsSorted(o.Workers) || o.Workers[0] < 1 || slices.Max(o.Workers) > 64:
		return usage(cmd, "--sizes takes ascending numbers from 1 to 64")
	case o.Delay < 0 || o.Delay > time.Second:
		return usage(cmd, "--delay is from 0 to 1s")
	case o.Store != "":
		if err := checkDatabase(cmd, o.Store); err != nil {
			return err
		}
	}
	return inRange(cmd, bound{"threads", o.Threads, 1, 1000}, bound{"seconds", seconds, 1, 3600}, bound{"pages", o.Pages, 1, 1_000_000})
}

// scalingWorkerCommand is a worker of bench scaling, which starts it.
func (a *app) scalingWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "scaling-worker REQUEST",
		Short:  "One worker of bench scaling",
		Hidden: true,
		Args:   exactly(1, "a request"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := scalebench.RunWorker(cmd.Context(), args[0], a.stdout)
			if cmd.Context().Err() != nil {
				return nil // its input ends to make it stop
			}
			return err
		},
	}
}
