package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/txnbench"
)

const txnHelp = `
Measure transactions and notifications, each with its baseline in the same run:

  figure8     reads and single-cell writes per second, compared with raw
              Badger (Figure 8 of the Percolator paper), for values of 100 bytes
              and 10 kB, in cache and 5 × cache, by 1, 2, 8 and 64 goroutines
  cost        what one read and one write cost, from raw Badger up
  oracle      timestamps per second, compared with a counter behind a mutex
  latency     from a commit to the start of the observer that it wakes, before
              and after a million notifications came and went
  contention  64 goroutines on 1, 10 and 1,000 rows, compared with a mutex per row
  brokerage   trade orders, results, market feeds and customer positions, with
              the brokers' commissions in three ways; the books are checked

Without a name all of them run, which takes about ten minutes; with --quick about
two, and the numbers are rough. With --sync every write is synced to the disk
before it is acknowledged, on both sides, in figure8 and cost.`

func (a *app) txnCommand() *cobra.Command {
	var o txnbench.Options
	cmd := &cobra.Command{
		Use:       "txn [" + strings.Join(txnbench.Names, "|") + "]…",
		Short:     "Transactions and notifications, compared with raw Badger and other baselines",
		Long:      strings.TrimSpace(txnHelp),
		Example:   examples("txn", "txn --quick figure8 oracle", "txn --format json brokerage"),
		ValidArgs: txnbench.Names,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				if !slices.Contains(txnbench.Names, name) {
					return usage(cmd, "there is no benchmark %q of transactions; there are %s", name, strings.Join(txnbench.Names, ", "))
				}
			}
			o.Names, o.Log = args, a.stderr
			res, err := txnbench.All(cmd.Context(), o)
			return a.print(err, res, res.Text)
		},
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "a rough look, in about two minutes for all")
	cmd.Flags().BoolVar(&o.Sync, "sync", false, "sync every write to the disk")
	return cmd
}
