package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `
indexer keeps a search index up to date while fetched pages arrive. Each page that
is loaded wakes small transactions that recompute only what depends on it:
duplicates, links and anchors, rank, and the page's place in the index. It can be
searched moments later. There is no batch run, and nothing to do again after a
crash: the same command goes on where it was.

In this version pages come from recorded crawls (WARC files). Begin with

  indexer replay crawl.warc.gz     load a recorded crawl and index it
  indexer query lighthouse         search what was indexed

Everything the program writes is under one directory, ./data unless --data says
otherwise. Settings can also stand in config.yaml or in the environment
(INDEXER_DATA, INDEXER_WORKERS, …).`

// rootCommand puts the command line together.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "indexer",
		Short:             "An incremental web index",
		Long:              long(rootHelp, statusDone, statusFailed, statusUsage, statusNoSpace, statusInUse, statusDifferences, statusInterrupted),
		Args:              cobra.ArbitraryArgs,
		RunE:              a.runRoot,
		PersistentPreRunE: a.configure,
		SilenceErrors:     true,
		SilenceUsage:      true,

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{reason: err.Error(), help: cmd.CommandPath()}
	})
	flags := root.PersistentFlags()
	flags.String("data", a.cfg.Data, "`directory` under which everything is kept")
	flags.StringVar(&a.flags.config, "config", "", "settings `file` (default: config.yaml where present)")
	flags.String("log-level", a.cfg.LogLevel, "`level` of what is logged: debug, info, warn or error")
	flags.String("format", a.cfg.Format, "`form` of results: text or json")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		a.replayCommand(), a.queryCommand(), a.inspectCommand(), a.statsCommand(),
		a.exportCommand(), a.verifyCommand(), a.packCommand(), a.benchCommand(), a.versionCommand(),
	)
	return root
}

// runRoot is for arguments that begin with no command.
func (a *app) runRoot(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	word := args[0]
	switch {
	case word == "crawl" || looksLikeSeeds(word):
		return &usageError{reason: "crawling is not in this version yet; `indexer replay FILE.warc.gz` indexes a crawl that another program recorded", help: "indexer replay"}
	case strings.Contains(filepath.Base(word), ".warc"):
		return &usageError{reason: fmt.Sprintf("to load a WARC file, say `indexer replay %s`", word), help: "indexer replay"}
	}
	reason := fmt.Sprintf("there is no command %q", word)
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		reason += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return &usageError{reason: reason, help: "indexer"}
}

// looksLikeSeeds: a URL, or a text file, is what one would crawl from.
func looksLikeSeeds(word string) bool {
	if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") || strings.HasSuffix(word, ".txt") {
		return true
	}
	info, err := os.Stat(word)
	return err == nil && info.Mode().IsRegular() && !strings.Contains(filepath.Base(word), ".warc")
}
