package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	configFile     string
	cfg            config.Config // once the command runs
}

const rootHelp = `
Measure the program together with a baseline that runs in the same minutes on the same
machine: machines differ and are noisy, so the ratio is what counts. Nothing is
written to a data directory.

Settings come from flags, the environment (INDEXER_WORKERS, …) and config.yaml, as
they do for indexer.`

func (a *app) rootCommand() *cobra.Command {
	d := config.Default()
	root := &cobra.Command{
		Use:               "bench NAME",
		Short:             "Benchmarks with their baselines",
		Long:              strings.TrimSpace(rootHelp),
		Example:           examples("crawl", "pipeline crawl.warc.gz", "txn --quick", "web --pages 20000"),
		PersistentPreRunE: a.configure,
		SilenceErrors:     true,
		SilenceUsage:      true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noBenchmark(cmd, args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%v", err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	flags := root.PersistentFlags()
	flags.String("data", d.Data, "`directory` whose index query and relevance ask without files")
	flags.StringVar(&a.configFile, "config", "", "settings `file` (default: config.yaml where present)")
	flags.String("format", d.Format, "`form` of results: text or json")
	root.AddCommand(
		a.clusteringCommand(), a.compareCommand(), a.crawlCommand(), a.freshnessCommand(), a.pipelineCommand(), a.queryCommand(), a.rankCommand(),
		a.recoveryCommand(), a.relevanceCommand(), a.renderCommand(), a.scalingCommand(), a.simulateCommand(), a.txnCommand(), a.webCommand(),
		a.siteCommand(), a.sideCommand(), a.replayCommand(), a.scalingWorkerCommand(), // processes that benchmarks start
	)
	return root
}

// helpCommand prints the help of a benchmark. For an unknown one, Cobra's own help command exits
// with status 0.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [NAME]",
		Short: "Print the help of a benchmark",
		Long:  "Print the help of a benchmark, as --help does.",
		// A mistake in the settings must not prevent reading the help.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noBenchmark(cmd.Root(), strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

func noBenchmark(root *cobra.Command, name string) error {
	return usage(root, "there is no benchmark %q; there are %s", name, strings.Join(benchmarks(root), ", "))
}

// examples has a line for the arguments of each example.
func examples(args ...string) string {
	return "  go run ./bench " + strings.Join(args, "\n  go run ./bench ")
}

// benchmarks lists the names of the benchmarks.
func benchmarks(root *cobra.Command) (names []string) {
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" && !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	return names
}

// settingFlags are the flags that stand for settings, by name.
var settingFlags = map[string]string{
	"data": "data", "index": "index", "format": "format", "workers": "workers", "commit": "commit", "sync": "sync", "rank-tolerance": "rank_tolerance",
}

// pipelineFlags are those of the benchmarks that load pages. Their values are checked
// with the other settings.
func pipelineFlags(cmd *cobra.Command) {
	d := config.Default()
	cmd.Flags().String("workers", strconv.Itoa(d.Workers), "`number` of observers, and of loaders, that run at a time")
	cmd.Flags().String("commit", d.Commit, "commit `path`: auto, one-phase or two-phase")
	cmd.Flags().String("rank-tolerance", strconv.FormatFloat(d.RankTolerance, 'g', -1, 64), "relative `error` that ranks may have; 0: the default")
	cmd.Flags().Bool("sync", d.Sync, "what is loaded also survives a lost machine (slower)")
}

// configure loads the settings for a command.
func (a *app) configure(cmd *cobra.Command, _ []string) (err error) {
	given := make(map[string]config.Flag)
	for name, key := range settingFlags {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			given[key] = config.Flag{Name: name, Value: flag.Value.String()}
		}
	}
	a.cfg, err = config.Load(a.configFile, given)
	return err
}

var commitModes = map[string]txn.Mode{"auto": txn.Auto, "one-phase": txn.OnePhase, "two-phase": txn.TwoPhase}

// repositoryOptions are those of the repositories that benchmarks fill, as the commands of indexer
// that load have them.
func (a *app) repositoryOptions() repository.Options {
	c := &a.cfg
	o := repository.Options{
		Workers: c.Workers, Backlog: c.Backlog, Commit: commitModes[c.Commit], Sync: c.Sync, Memory: c.MemoryBytes(),
		RankTolerance: c.RankTolerance, History: c.History, Trace: c.Trace, Collect: true,
	}
	if c.Trace == 0 {
		o.Trace = -1 // in the options 0 is the default
	}
	return o
}

// index is the directory of the index to ask. It has to exist, unless there is
// something else to measure.
func (a *app) index(cmd *cobra.Command, needed bool) (string, error) {
	dir := repository.IndexDir(a.cfg.Data)
	if _, err := os.Stat(dir); err != nil && needed {
		return "", usage(cmd, "%s has no index: name WARC files to measure, or another directory with --data", a.cfg.Data)
	}
	return dir, nil
}

// checkFiles looks for all files before anything is measured.
func checkFiles(cmd *cobra.Command, paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			return usage(cmd, "%s: %v", path, wrong.Err)
		}
		if err != nil {
			return err
		}
		if info.IsDir() {
			return usage(cmd, "%s is a directory; name the files in it", path)
		}
	}
	return nil
}

// print writes a result in the form that was asked for.
func (a *app) print(err error, res any, text func() string) error {
	if err != nil {
		return err
	}
	if a.cfg.Format == "json" {
		e := json.NewEncoder(a.stdout)
		e.SetEscapeHTML(false)
		return e.Encode(res)
	}
	_, err = io.WriteString(a.stdout, text())
	return err
}

// printWithPlot prints a result first, so that it is not lost if its plot cannot be written. file is
// "" if no plot is wanted.
func (a *app) printWithPlot(res plotted, file string) error {
	if err := a.print(nil, res, res.Text); err != nil || file == "" {
		return err
	}
	return writePlot(file, res)
}

// plotted is a result with a plot.
type plotted interface {
	Text() string
	SVG() string
}

func writePlot(file string, res plotted) error {
	if err := os.WriteFile(file, []byte(res.SVG()), 0o644); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}

// usageError is a command line that makes no sense.
type usageError struct{ command, reason string }

func (e *usageError) Error() string { return e.reason }

func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{cmd.CommandPath(), fmt.Sprintf(format, args...)}
}

func isUsage(err error) bool {
	_, bad := errors.AsType[*usageError](err)
	_, setting := errors.AsType[*config.Error](err)
	return bad || setting
}

// exactly and needsWARC check the number of arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(cmd, "%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

func needsWARC(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(cmd, "%s needs at least one WARC file", cmd.CommandPath())
	}
	return nil
}

// checkDatabase checks the value of --store.
func checkDatabase(cmd *cobra.Command, setting string) error {
	if _, err := measure.ParseDatabase(setting, ""); err != nil {
		return usage(cmd, "--store: %v", err)
	}
	return nil
}

// bound is what a flag gives, and the least and the most that it may give.
type bound struct {
	flag           string
	n, least, most int
}

// inRange checks the numbers that flags give.
func inRange(cmd *cobra.Command, bounds ...bound) error {
	for _, b := range bounds {
		if b.n < b.least || b.n > b.most {
			return usage(cmd, "--%s is from %d to %d", b.flag, b.least, b.most)
		}
	}
	return nil
}
