package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"indexer/control"
	"indexer/progress"
	"indexer/repository"
	"indexer/txn"
)

const gcHelp = `
Remove what nobody can see any more (old versions, deletions, records of what was
rolled back, acknowledgements of cells that are gone), give the space back to the
disk, and tell what was freed.

Crawl and replay collect garbage by themselves while they run, but leave it to the
store to give space back when it sees fit. Readers that are open, pins, and the
history (config.yaml) keep versions. While another process has the data directory,
that process is asked; it writes nothing for moments.`

func (a *app) gcCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "gc",
		Short:   "Collect garbage, and give its space back",
		Long:    long(gcHelp, statusDone, statusFailed, statusUsage, statusNoSpace, statusInUse),
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
		Short:   "List the pins: what is kept readable by name",
		Long:    long("\nList the pins: timestamps that stay readable, each with its owner and when it expires.", statusDone, statusFailed, statusUsage, statusInUse),
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
		Short:   "Keep a moment readable until it is unpinned",
		Long:    long("\nKeep the repository as it is now, or was at a timestamp, readable by name until it\nis unpinned or expires. Everything written since then is kept, too.", statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer gc pin before-upgrade --for 72h"),
		Args:    exactly(1, "one name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.For < 0 {
				return &usageError{reason: "--for is not negative", help: "indexer gc pin"}
			}
			req.Pin.Name = args[0]
			return a.askGC(cmd.Context(), req)
		},
	}
	cmd.Flags().Uint64Var(&req.Pin.TS, "at", 0, "the `timestamp` to keep; 0: now")
	cmd.Flags().DurationVar(&req.For, "for", 0, "how `long`; 0: until it is unpinned")
	cmd.Flags().StringVar(&req.Pin.Owner, "owner", "", "`who` wants it, and why")
	return cmd
}

func (a *app) unpinCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unpin NAME",
		Short:   "Drop a pin",
		Long:    long("\nDrop a pin. What only it kept goes with the next collection.", statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer gc unpin before-upgrade"),
		Args:    exactly(1, "one name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.askGC(cmd.Context(), gcRequest{Do: "unpin", Pin: txn.Pin{Name: args[0]}})
		},
	}
}

// gcRequest is what gc is asked for, as the argument of a request.
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

func gc(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	var g gcRequest
	if len(req.Args) != 1 || json.Unmarshal([]byte(req.Args[0]), &g) != nil {
		return &usageError{reason: "gc cannot be asked that"}
	}
	switch g.Do {
	case "pins":
		return printPins(stdout, r.DB().Pins(), req.Format)
	case "pin":
		if g.For > 0 {
			g.Pin.Expires = time.Now().Add(g.For).UTC().Truncate(time.Second)
		}
		p, err := r.DB().Pin(ctx, g.Pin)
		if err != nil {
			return err
		}
		return printPins(stdout, []txn.Pin{p}, req.Format)
	case "unpin":
		return r.DB().Unpin(ctx, g.Pin.Name)
	}
	began := time.Now()
	freed, err := r.Collect(ctx)
	if err != nil {
		return err
	}
	if req.Format == "json" {
		return printJSON(stdout, freed)
	}
	_, err = io.WriteString(stdout, freedText(freed, time.Since(began)))
	return err
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
	t.row("on the disk", fmt.Sprintf("%s, before %s", megabytes(f.BytesAfter), megabytes(f.BytesBefore)))
	t.row("took", progress.Duration(took))
	list(t, "held by pins", f.Pins, func(p txn.Pin) string { return p.Name + " " + pinText(p) })
	return t.String()
}

func printPins(w io.Writer, pins []txn.Pin, format string) error {
	t := new(table)
	for _, p := range pins {
		if format == "json" {
			if err := printJSON(w, p); err != nil {
				return err
			}
			continue
		}
		t.row(p.Name, pinText(p))
	}
	_, err := io.WriteString(w, t.String())
	return err
}

func pinText(p txn.Pin) string {
	text := fmt.Sprintf("at %d, of %s", p.TS, p.Created.Format(time.RFC3339))
	if !p.Expires.IsZero() {
		text += ", until " + p.Expires.Format(time.RFC3339)
	}
	if p.Owner != "" {
		text += ", for " + p.Owner
	}
	return text
}
