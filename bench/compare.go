package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/pipelinebench"
)

const compareHelp = `
Load WARC files alternately with another version of this program and with this one, and
print the ratios of the costs. The command fails if the processor time or what is allocated
has doubled, and for no other reason: machines are noisy.

--old names the other version: go build -o old ./bench in its checkout makes it.
bench/guard compares a branch with its merge base in this way.`

func (a *app) compareCommand() *cobra.Command {
	var o pipelinebench.CompareOptions
	cmd := &cobra.Command{
		Use:     "compare --old PROGRAM FILE.warc[.gz]…",
		Short:   "What loading a page costs with another version of the program",
		Long:    strings.TrimSpace(compareHelp),
		Example: examples("compare --old ../base/bench.old crawl.warc.gz"),
		Args:    needsWARC,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Old == "" {
				return usage(cmd, "name the other version with --old")
			}
			if err := inRange(cmd, bound{"rounds", o.Rounds, 1, 100}); err != nil {
				return err
			}
			if err := checkFiles(cmd, append([]string{o.Old}, args...)); err != nil {
				return err
			}
			o.Files, o.Log = args, a.stderr
			res, err := pipelinebench.Compare(cmd.Context(), o)
			if err := a.print(err, res, res.Text); err != nil {
				return err
			}
			if doubled := res.Doubled(); len(doubled) > 0 {
				return fmt.Errorf("doubled: %s; `go run ./bench pipeline --profile FILE` tells where it goes", strings.Join(doubled, "; "))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Old, "old", "", "the other `program`")
	cmd.Flags().IntVar(&o.Rounds, "rounds", 3, "how often both are run; the least cost counts")
	return cmd
}
