package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"indexer/progress"
)

const replayHelp = `
Load recorded crawls and index them: every response, resource and revisit record
of an http or https URL counts as a fetch made at the record's date. The order of
files and records does not matter; the newest fetch of a URL decides. "-" is
standard input. Files are WARC 1.0 and 1.1, plain, gzip or zstd, whatever their
names are.

While files are read, observers bring the index up to date, and replay waits for
them at the end. It can be interrupted at any time: the first interrupt (Ctrl-C)
saves, says what is left, and ends with status 130, so that a shell does not take a
part for the whole; whatever was loaded stays loaded. The same command again goes on:
loading a fetch twice changes nothing, and what observers had left to do they do
whenever the directory is open.

Damaged records are listed with file and offset, and the rest of the file is
loaded: that alone is no failure. A file in which there is no record at all is
bad input; the other files are loaded all the same.

A server that does not crawl gives the data directory back for this, and takes it
again afterwards. While replay runs, inspect, stats, export and verify ask this
process, and query reads the index files.`

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay FILE.warc[.gz]…",
		Short: "Load recorded crawls (WARC files) and index them",
		Long:  long(replayHelp, statusDone, statusFailed, statusUsage, statusNoSpace, statusInUse, statusInterrupted),
		Example: examples(
			"indexer replay crawl-00.warc.gz crawl-01.warc.gz",
			"zcat old.warc.gz | indexer replay -",
			"indexer replay --sync --data /srv/index crawl.warc.gz",
		),
		Args: atLeast(1, "at least one WARC file, or - for standard input"),
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

// watch runs a replay and shows how far it is. An interrupt is no error here: the
// summary comes first, and then what is left.
func (a *app) watch(ctx context.Context, r *replayRun) error {
	width, tty := terminal(a.stderr.w)
	p := progress.Start(a.stderr.w, r.state, progress.Options{Terminal: tty, Width: width})
	a.stderr.through(p)
	stop := context.AfterFunc(ctx, func() {
		_, _ = fmt.Fprintln(a.stderr, "stopping: what was loaded is saved; interrupt again to stop at once")
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
