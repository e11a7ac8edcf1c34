package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/repository"
)

const statusHelp = `
Show how a deployment is doing: its processes, who holds which lease, the rows that wait for
each observer and how long the oldest has waited, the oracles and how many timestamps they
hand out, and how long the store takes to answer.

On a store that several processes share, the command only reads. It takes no timestamp and
needs neither an oracle nor a worker nor etcd, so it works when the deployment does not. The
list of problems says what is missing.

With a data directory, it shows the process that has the directory open, the rows that wait,
and how long the store takes.

--watch repeats the output every two seconds, or at the given interval.`

// renewEvery is how often status is renewed by default.
const renewEvery = 2 * time.Second

func (a *app) statusCommand() *cobra.Command {
	var watch time.Duration
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show processes, leases, backlog and oracles of a deployment",
		Long:    long(statusHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer status", "indexer status --watch=10s", "indexer status --format json | jq .problems"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.Flags().Changed("watch") {
				return &usageError{reason: "a time belongs to --watch with =, as in --watch=" + args[0], help: "indexer status"}
			}
			return exactly(0, "no arguments")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch < 0 || watch > 0 && watch < 100*time.Millisecond {
				return &usageError{reason: "--watch must be at least 100ms", help: "indexer status"}
			}
			look := func(ctx context.Context) error { return a.ask(ctx, a.request("status"), a.stdout) }
			if a.isShared() {
				o, err := a.onlook(cmd.Context())
				if err != nil {
					return err
				}
				defer func() { _ = o.close() }() // nothing was written
				look = o.show
			}
			return a.renew(cmd.Context(), watch, look)
		},
	}
	cmd.Flags().DurationVar(&watch, "watch", 0, "repeat the output after this `time`")
	cmd.Flags().Lookup("watch").NoOptDefVal = renewEvery.String()
	return cmd
}

// renew looks once, or again and again until ctx ends.
func (a *app) renew(ctx context.Context, every time.Duration, look func(context.Context) error) error {
	if every == 0 {
		return look(ctx)
	}
	_, screen := terminal(a.stdout)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if screen && !a.isJSON() {
			_, _ = io.WriteString(a.stdout, "\x1b[H\x1b[2J") // the next write reports the error
		}
		if err := look(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil // that is how it ends
		}
		if !screen && !a.isJSON() {
			if _, err := fmt.Fprintln(a.stdout); err != nil {
				return err
			}
		}
	}
}

// probes is how many reads measure the latency of the store.
const probes = 9

// status is the question for a data directory, answered by a process that has opened it only
// for that.
func status(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	return printStatus(ctx, r, []oracle.Process{}, req, stdout)
}

// printStatus answers for a data directory.
func printStatus(ctx context.Context, r *repository.Repository, processes []oracle.Process, req control.Request, stdout io.Writer) error {
	live := r.Live()
	s := &state{
		Store: repository.StoreDir(r.Dir()), Time: time.Now().UTC(), Leases: []leaseState{}, Oracles: []oracleState{},
		Processes: []processState{}, Backlog: live.Backlog, OldestMS: live.OldestNotificationMS, Problems: []string{},
	}
	for _, p := range processes {
		s.Processes = append(s.Processes, processState{Process: p, Alive: true})
	}
	var err error
	if s.Latency, err = r.Probe(ctx, probes); err != nil {
		return err
	}
	if err := r.Failure(); err != nil {
		s.Problems = append(s.Problems, "observers have stopped: "+err.Error())
	}
	return printResult(stdout, req.Format, s, s.text())
}
