package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/engines"
	"github.com/webindexer/indexer/store/tablecopy"
	"github.com/webindexer/indexer/txn"
)

const copyHelp = `
Copy everything to another store: from a data directory to a database when one machine is
no longer enough, back, or from one database to another. The copy has all versions, all
pending work and all timestamps, so work continues there where it stopped.

The source is the store that the settings name (--data, --store). The target is a data
directory, postgres://… or bigtable://…, and must be empty. No other process may use either
of them meanwhile: stop all workers, loaders, servers and oracles first. The command refuses
a source that another process uses. At the end it compares both stores cell by cell.

If the copy is interrupted or killed, run the same command again: it continues. Until the
copy is complete, other commands refuse the target.

Index files are not copied. The first command that keeps them (in a data directory, any
command that opens it; on a shared store, a worker) rebuilds them from the store.`

func (a *app) copyCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "copy --to TARGET",
		Short: "Copy everything to another store",
		Long:  long(copyHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer copy --data ./data --to postgres://indexer@db/web",
			"indexer copy --store postgres://indexer@db/web --to bigtable://project/instance/web",
			"indexer copy --store postgres://indexer@db/web --to ./copy"),
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return &usageError{reason: "name the target with --to: a data directory, postgres://… or bigtable://…", help: "indexer copy"}
			}
			return a.copyTo(cmd.Context(), to)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "data `directory` or URL of a database to copy to")
	return cmd
}

// errTarget says that something cannot be copied to.
var errTarget = errors.New("this cannot be the target of a copy")

// copied is the JSON of copy.
type copied struct {
	From    string                `json:"from"`
	To      string                `json:"to"`
	Cells   int64                 `json:"cells"`
	Bytes   int64                 `json:"bytes"` // of keys and values
	Groups  map[string]groupCells `json:"groups"`
	Seconds float64               `json:"seconds"` // of this run of the command
}

type groupCells struct {
	Cells int64 `json:"cells"`
	Bytes int64 `json:"bytes"`
}

func (a *app) copyTo(ctx context.Context, to string) (err error) {
	began := time.Now()
	a.cfg.LimitMemory()
	if err := a.prepareForFaults(); err != nil {
		return err
	}
	from, err := a.openSource(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.leave()) }()
	target, err := a.openTarget(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	// The cells that are left out say which process does what, and only databases have the
	// second kind.
	result, err := progress.Report(ctx, a.stderr, func(tell progress.Tell) (tablecopy.Result, error) {
		return tablecopy.Run(ctx, from.table, target, tablecopy.Options{
			Group: txn.MetaGroup, Leave: []string{lease.Group, division.Group}, Skip: oracle.OfProcess,
			Progress: func(p tablecopy.Progress) {
				tell("%s copied so far, now in group %s", count(int(p.Cells), "cell"), p.Group)
				failpoint("copied")
			},
		})
	})
	if errors.Is(err, store.ErrForeign) {
		return fmt.Errorf("%w: %w", errTarget, err)
	}
	if err != nil {
		return fmt.Errorf("copy to %s: %w", engines.Redact(to), err)
	}
	c := copied{From: a.sourceName(), To: engines.Redact(to), Groups: make(map[string]groupCells), Seconds: time.Since(began).Seconds()}
	for name, sum := range result {
		c.Groups[name] = groupCells{sum.Cells, sum.Bytes}
		c.Cells, c.Bytes = c.Cells+sum.Cells, c.Bytes+sum.Bytes
	}
	text := fmt.Sprintf("Copied %s (%s) to %s in %s, and compared them: no difference.\nIndex files were not copied; they are rebuilt from the store when they are needed.\n",
		count(int(c.Cells), "cell"), progress.Bytes(c.Bytes), plain(c.To), progress.Duration(time.Since(began)))
	return printResult(a.stdout, a.cfg.Format, c, text)
}

func (a *app) sourceName() string {
	if a.isShared() {
		return engines.Redact(a.cfg.Store)
	}
	return a.cfg.Data
}

// openSource opens the store of the settings, and keeps other processes from using it.
//
// A data directory belongs to one process anyway. On a database this process becomes the
// oracle: no other process gets timestamps then, so none commits. Processes that merely wait
// for an oracle are refused too, because they would continue after the copy, in a store that
// its users consider retired. The comparison at the end of the copy covers writes that were
// under way.
func (a *app) openSource(ctx context.Context) (_ *deployment, err error) {
	d := new(deployment)
	if !a.isShared() {
		if err := checkDataDir(a.cfg.Data, false, ""); err != nil {
			return nil, err
		}
		if err := a.prepareAccess(false); err != nil {
			return nil, denied(err)
		}
		if d.table, err = a.openDirectory(ctx); err != nil {
			return nil, fmt.Errorf("open the source of the copy: %w", err)
		}
		d.closers = append(d.closers, d.table.Close)
		return d, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.leave())
		}
	}()
	if d.table, err = a.openTable(ctx); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.table.Close)
	list, err := oracle.Processes(ctx, d.table)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if isFresh(p) { // no need to wait until its oracle counts as dead
			return nil, usedBy(p)
		}
	}
	if err := a.joinAlone(ctx, d); err != nil {
		return nil, err
	}
	return d, refuseOthers(ctx, d)
}

// isFresh reports whether a process has shown a sign of life just now. Only Alive knows
// whether an older one is alive: its clock may be wrong.
func isFresh(p oracle.Process) bool { return time.Since(p.Beat).Abs() < oracle.TTL/2 }

// errSourceInUse says that other processes use the database that is copied.
var errSourceInUse = errors.New("the source of the copy is in use")

func usedBy(p oracle.Process) error {
	return fmt.Errorf("%w: process %d on %s is using it", errSourceInUse, p.PID, p.Host)
}

// refuseOthers fails if another process has a liveness token in the table and is alive: its
// count rises, whatever its clock says.
func refuseOthers(ctx context.Context, d *deployment) error {
	own, counts := d.coordination.Liveness, make(map[string]uint64)
	tick := time.NewTicker(oracle.TTL / 8)
	defer tick.Stop()
	for {
		list, err := oracle.Processes(ctx, d.table)
		if err != nil {
			return err
		}
		waiting := false
		for _, p := range list {
			alive, err := own.Alive(ctx, p.Token)
			before, seen := counts[p.Token]
			counts[p.Token] = p.Count
			switch {
			case err != nil:
				return err
			case !alive || p.Token == own.Token():
			case isFresh(p), seen && p.Count > before:
				return usedBy(p)
			default:
				waiting = true // probably dead; Alive finds out
			}
		}
		if !waiting {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// openTarget opens the target of a copy, a database or a data directory, which it creates.
func (a *app) openTarget(ctx context.Context, to string) (store.Table, error) {
	t := *a
	if engines.Remote(to) {
		t.cfg.Store = to
		table, err := t.openAny(ctx)
		if wrong, ok := errors.AsType[*store.SettingError](err); ok {
			return nil, &usageError{reason: "--to: " + wrong.Error(), help: "indexer copy"}
		}
		return table, err
	}
	t.cfg.Store, t.cfg.Data, t.cfg.Sync = "", to, true
	if err := checkDataDir(to, true, ""); err != nil {
		return nil, fmt.Errorf("%w: %w", errTarget, err)
	}
	if !a.isShared() && isSameDir(repository.StoreDir(to), repository.StoreDir(a.cfg.Data)) {
		return nil, fmt.Errorf("%w: %s is the source", errTarget, to)
	}
	if err := t.prepareAccess(true); err != nil {
		return nil, denied(fmt.Errorf("%w: %w", errTarget, err))
	}
	table, err := t.openDirectory(ctx)
	if errors.Is(err, store.ErrForeign) {
		return nil, fmt.Errorf("%w: %w", errTarget, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the target of the copy: %w", err)
	}
	return table, nil
}

func isSameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// openDirectory opens the table of the data directory, without a repository.
func (a *app) openDirectory(ctx context.Context) (store.Table, error) {
	return engines.Open(ctx, repository.StoreDir(a.cfg.Data), repository.Groups(), engines.Options{Badger: badgerdb.Options{
		SyncWrites: a.cfg.Sync, MemoryBytes: a.cfg.MemoryBytes() / 4, Logger: a.log.Named("badger").Sugar(),
	}})
}
