package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

const gcHelp = `
Remove data that no one can read any more (old versions, deleted cells, records of
rollbacks, acknowledgements for cells that no longer exist), return the space to the
disk, and report what was freed.

Crawl and replay collect garbage while they run, but let the store decide when to return
the space. Open readers, pins and the setting history keep old versions.

If another process has the data directory open, the command runs in that process, whose
writes pause briefly.`

func (a *app) gcCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "gc",
		Short:   "Collect garbage and return its space to the disk",
		Long:    long(gcHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer gc", "indexer gc pin before-upgrade --for 72h", "indexer gc pins"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.askGC(cmd.Context(), gcRequest{Do: "collect"})
		},
	}
	cmd.AddCommand(a.pinsCommand(), a.pinCommand(), a.unpinCommand())
	return cmd
}

func (a *app) pinsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "pins",
		Short:   "List the pins",
		Long:    long("\nList the pins: timestamps that are kept readable by name, with their owners and\nexpiry times.", statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer gc pins"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.askGC(cmd.Context(), gcRequest{Do: "pins"})
		},
	}
}

func (a *app) pinCommand() *cobra.Command {
	req := gcRequest{Do: "pin"}
	cmd := &cobra.Command{
		Use:     "pin NAME",
		Short:   "Keep the current state, or an earlier one, readable",
		Long:    long("\nKeep the current state, or the state at a timestamp, readable by name until it is\nunpinned or expires. All versions written since then are kept too.\nIf a pin of this name exists, it moves, and versions that it alone kept may be\ncollected.", statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer gc pin before-upgrade --for 72h"),
		Args:    exactly(1, "one name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case args[0] == "":
				return &usageError{reason: "the name of a pin must not be empty", help: "indexer gc pin"}
			case plain(args[0]+req.Pin.Owner) != args[0]+req.Pin.Owner:
				return &usageError{reason: "the name of a pin, and --owner, must be one line of text", help: "indexer gc pin"}
			case req.For != 0 && req.For < time.Second:
				return &usageError{reason: "--for must be at least 1s", help: "indexer gc pin"}
			}
			req.Pin.Name = args[0]
			return a.askGC(cmd.Context(), req)
		},
	}
	cmd.Flags().Uint64Var(&req.Pin.TS, "at", 0, "`timestamp` to keep; 0: now")
	cmd.Flags().DurationVar(&req.For, "for", 0, "keep it for this `time`; 0: until it is unpinned")
	cmd.Flags().StringVar(&req.Pin.Owner, "owner", "", "`text` that says who needs it, and why")
	return cmd
}

func (a *app) unpinCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unpin NAME",
		Short:   "Drop a pin",
		Long:    long("\nDrop a pin. The next collection removes the versions that only this pin kept.", statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer gc unpin before-upgrade"),
		Args:    exactly(1, "one name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.askGC(cmd.Context(), gcRequest{Do: "unpin", Pin: txn.Pin{Name: args[0]}})
		},
	}
}

// gcRequest is the argument of a request for gc.
type gcRequest struct {
	Do  string        `json:"do"` // collect, pins, pin or unpin
	Pin txn.Pin       `json:"pin"`
	For time.Duration `json:"for"`
}

func (a *app) askGC(ctx context.Context, req gcRequest) error {
	b, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("gc: %w", err)
	}
	return a.ask(ctx, a.request("gc", string(b)), a.stdout)
}

func gc(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error {
	var g gcRequest
	if len(req.Args) != 1 || json.Unmarshal([]byte(req.Args[0]), &g) != nil {
		return &usageError{reason: "the request for gc cannot be read"}
	}
	switch g.Do {
	case "pins":
		pins, err := r.DB().Pins(ctx)
		if err != nil {
			return err
		}
		return printLines(stdout, req.Format, pins, pinsText(pins))
	case "pin":
		if g.For > 0 {
			g.Pin.Expires = time.Now().Add(g.For).UTC().Truncate(time.Second)
		}
		if err := checkPast(ctx, r.DB(), g.Pin); err != nil {
			return err
		}
		p, err := r.DB().Pin(ctx, g.Pin)
		if err != nil {
			return err
		}
		pins := []txn.Pin{p}
		return printLines(stdout, req.Format, pins, pinsText(pins))
	case "unpin":
		return r.DB().Unpin(ctx, g.Pin.Name)
	}
	began := time.Now()
	freed, err := progress.Report(ctx, stderr, func(tell progress.Tell) (*repository.Freed, error) { return r.Collect(ctx, tell) })
	if err != nil {
		return err
	}
	return printResult(stdout, req.Format, freed, freedText(freed, time.Since(began)))
}

// checkPast refuses to pin a future timestamp: the pin would keep no state that exists.
func checkPast(ctx context.Context, db *txn.DB, p txn.Pin) error {
	newest, err := db.Now(ctx)
	if err == nil && p.TS > newest {
		err = fmt.Errorf("timestamp %d: %w: the newest is %d", p.TS, snapshot.ErrFuture, newest)
	}
	if err != nil {
		return fmt.Errorf("pin %q: %w", p.Name, err)
	}
	return nil
}

func freedText(f *repository.Freed, took time.Duration) string {
	t := new(table)
	t.row("safe point", fmt.Sprint(f.SafePoint))
	for _, c := range []struct {
		name string
		n    int
	}{
		{"cells", f.Cells}, {"locks resolved", f.Locks}, {"old versions", f.Versions}, {"deletions", f.Deletions},
		{"rollbacks", f.Rollbacks}, {"lock records", f.LockOnly}, {"read locks", f.Reads}, {"acknowledged", f.Acks},
	} {
		if c.n > 0 {
			t.row(c.name, fmt.Sprint(c.n))
		}
	}
	if f.BytesBefore > 0 { // a database does not tell
		t.row("on the disk", fmt.Sprintf("%s, before: %s", megabytes(f.BytesAfter), megabytes(f.BytesBefore)))
	}
	t.row("took", progress.Duration(took))
	list(t, "held by pins", f.Pins, func(p txn.Pin) string { return p.Name + " " + pinText(p) })
	return t.String()
}

func pinsText(pins []txn.Pin) string {
	if len(pins) == 0 {
		return "Nothing is pinned.\n"
	}
	t := new(table)
	for _, p := range pins {
		t.row(p.Name, pinText(p))
	}
	return t.String()
}

func pinText(p txn.Pin) string {
	text := fmt.Sprintf("at %d, created %s", p.TS, p.Created.Format(time.RFC3339))
	if !p.Expires.IsZero() {
		text += ", until " + p.Expires.Format(time.RFC3339)
	}
	if p.Owner != "" {
		text += ", for " + p.Owner
	}
	return text
}
