package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/progress"
)

const replayHelp = `
Load recorded crawls and index them. Every response, resource and revisit record of an
http or https URL counts as a fetch made at the date of the record. The order of files
and records does not matter: the newest fetch of a URL decides. A revisit record renews
the date of a fetch of the same URL and makes no page by itself. Files are WARC 1.0 or
1.1, uncompressed or compressed with gzip or zstd, whatever their names. "-" is standard
input.

A pipe may stay open: replay loads a record as soon as it is complete. In a compressed
pipe each record should be a separate gzip member or zstd frame, as the WARC standard
recommends. If a gzip member holds several records, its first one is loaded when more of
the member arrives.

Observers update the index while the files are read, and replay waits for them at the
end. The first interrupt (Ctrl-C) saves, reports the remaining work, and ends with
status 130, so that a script does not mistake a part for the whole. Everything loaded so
far is kept. Run the same command again to continue: loading a fetch twice changes
nothing, and observers finish their work whenever the directory is open.

Damaged records are listed with file and offset, and the rest of the file is loaded; the
replay still succeeds. A file without any record is bad input, but the other files are
loaded.

A server that does not crawl releases the data directory for the replay and takes it
back afterwards. While the replay runs, inspect, stats, export and verify ask this
process, and query reads the index files.`

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay FILE.warc[.gz]…",
		Short: "Load recorded crawls (WARC files) and index them",
		Long:  long(replayHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer replay crawl-00.warc.gz crawl-01.warc.gz",
			"zcat old.warc.gz | indexer replay -",
			"indexer replay --sync --data /srv/index crawl.warc.gz",
		),
		Args: needsArgs("at least one WARC file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), args) },
	}
	a.pipelineFlags(cmd)
	return cmd
}

func (a *app) replay(ctx context.Context, args []string) error {
	inputs, err := findInputs(args, a.stdin)
	if err != nil {
		return err
	}
	_, err = os.Stat(a.cfg.Data)
	if err := noRecords(ctx, inputs, errors.Is(err, fs.ErrNotExist)); err != nil {
		return err
	}
	s, err := a.openToLoad(ctx)
	if err != nil {
		return err
	}
	r := newReplay(s, inputs)
	err = a.watch(ctx, r)
	if err == nil {
		err = r.printSummary(a)
	}
	return errors.Join(err, s.close(ctx))
}

// watch runs a replay and shows its progress. It does not return an error after an
// interrupt: the summary is printed first, and then the remaining work.
func (a *app) watch(ctx context.Context, r *replayRun) error {
	width, tty := terminal(a.stderr.w)
	p := progress.Start(a.stderr.w, r.state, progress.Options{Terminal: tty, Width: width})
	a.stderr.through(p)
	stop := context.AfterFunc(ctx, func() {
		_, _ = fmt.Fprintln(a.stderr, "stopping: everything loaded so far is saved; interrupt again to stop at once")
	})
	defer func() {
		stop()
		a.stderr.through(nil)
		p.Stop()
	}()
	begun := time.Now()
	err := r.run(ctx)
	r.sum.Seconds = time.Since(begun).Seconds()
	return err
}
