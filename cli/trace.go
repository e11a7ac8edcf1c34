package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/trace"
	"github.com/webindexer/indexer/repository"
)

const traceHelp = `
Show the journey of one page through the pipeline: when it was fetched and loaded; each
observer's run on it, with its timestamps, how long it waited and took, and what it
wrote; and when the page could be searched.

While the process that loaded the page runs, the command asks that process, which
remembers every run exactly, including attempts that did not commit. When that process
has ended, or has forgotten the page (the setting trace limits how many runs it
remembers), the command reconstructs the journey from the store. It then shows only runs
that committed, with approximate times (~), for as long as old versions are kept (the
setting history).`

func (a *app) traceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trace URL",
		Short: "Show the journey of one page through the pipeline",
		Long:  long(traceHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer trace https://skerryrock.example/",
			"indexer trace --format json https://skerryrock.example/ | jq .loaded_to_searchable_ms",
		),
		Args: exactly(1, "one URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := parseURL(args[0]); err != nil {
				return err
			}
			return a.ask(cmd.Context(), a.request("trace", args[0]), a.stdout)
		},
	}
}

func traceJourney(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if len(req.Args) != 1 {
		return &usageError{reason: "trace needs one URL"}
	}
	u, err := parseURL(req.Args[0])
	if err != nil {
		return err
	}
	j, err := r.Trace(ctx, u)
	if err != nil {
		return err
	}
	visits, err := frontier.Inspect(ctx, r.DB(), u)
	if err != nil {
		return err
	}
	addVisit(j, visits)
	return printResult(stdout, req.Format, j, plainLines(j.Text()))
}

// addVisit adds the cost of the fetch, from the last visits that the crawl remembers.
func addVisit(j *trace.Journey, visits *frontier.Inspection) {
	if visits == nil || j.Fetch == nil {
		return
	}
	for _, v := range visits.History {
		// The crawl stores times in milliseconds.
		if v.Time.Sub(j.Fetch.Time).Abs() < 2*time.Millisecond {
			j.Fetch.MS, j.Fetch.Bytes = &v.Milliseconds, &v.Bytes
		}
	}
}
