package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
)

const waitHelp = `
Wait until all work is done: no row waits for an observer, no transaction is open, and
everything loaded before is in the index.

If no process has the data directory open, the command runs the observers itself. Otherwise
it waits for the process that has it open, and on a store that several processes share, for
the workers. A crawl nearly always has pending work, so use --timeout while one runs.`

func (a *app) waitCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:     "wait",
		Short:   "Wait until all work is done",
		Long:    long(waitHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer wait", "indexer wait --timeout 10m && indexer export > documents.jsonl"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout < 0 {
				return &usageError{reason: "--timeout must not be negative", help: "indexer wait"}
			}
			return a.ask(cmd.Context(), a.request("wait", timeout.String()), a.stdout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this `time`; 0: never")
	return cmd
}

// errStillBusy says that wait gave up.
var errStillBusy = errors.New("work is still pending")

// waited is the JSON of wait.
type waited struct {
	Waiting int     `json:"waiting"` // rows that waited for observers at the start
	Dead    int     `json:"dead"`    // rows that observers have given up on
	Seconds float64 `json:"seconds"`
}

func waitQuiet(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if len(req.Args) != 1 {
		return &usageError{reason: "the request for wait needs a time"}
	}
	timeout, err := time.ParseDuration(req.Args[0])
	if err != nil {
		return &usageError{reason: "wait: " + err.Error()}
	}
	waiting, err := allWaiting(ctx, r)
	if err != nil {
		return err
	}
	w := waited{Waiting: waiting}
	began := time.Now()
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	err = r.Quiesce(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		if waiting, err = allWaiting(ctx, r); err != nil {
			return err
		}
		return stillBusy(timeout, waiting)
	}
	if err != nil {
		return err
	}
	dead, err := r.DeadCount(ctx)
	if err != nil {
		return err
	}
	w.Dead, w.Seconds = totalRows(dead), time.Since(began).Seconds()
	text := fmt.Sprintf("All work is done. (%s waited; waiting took %s.)\n", count(w.Waiting, "row"), progress.Duration(time.Since(began)))
	if w.Dead > 0 {
		text += fmt.Sprintf("Observers gave up on %s: see `indexer dead list`.\n", count(w.Dead, "row"))
	}
	return printResult(stdout, req.Format, w, text)
}

// stillBusy says that wait gave up while so many rows waited.
func stillBusy(timeout time.Duration, waiting int) error {
	if waiting == 0 {
		return fmt.Errorf("%w, or ended just now, after %v: no row waits, but a transaction may be open", errStillBusy, timeout)
	}
	return fmt.Errorf("%w after %v: %s waiting", errStillBusy, timeout, count(waiting, "row"))
}

// allWaiting counts the rows that wait for observers, in any process.
func allWaiting(ctx context.Context, r *repository.Repository) (int, error) {
	waiting, err := r.Waiting(ctx)
	return totalRows(waiting), err
}

func rowsWaiting(r *repository.Repository) int { return totalRows(r.Live().Backlog) }
