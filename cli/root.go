package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/webindexer/indexer/crawler/seeds"
)

const rootHelp = `
indexer keeps a search index up to date while pages arrive. Each page that is
fetched or loaded triggers small transactions that recompute only what depends on
it: duplicates, links and anchors, ranks, and the page's entry in the index. The page
can be searched moments later. There is no batch run. After a crash, run the same
command again: it continues where it stopped.

Pages come from the web, or from recorded crawls (WARC files). To start:

  indexer seeds.txt                crawl from a list of URLs, and index as it goes
  indexer replay crawl.warc.gz     load a recorded crawl, and index it
  indexer query lighthouse         search the index
  indexer serve                    open a search page on http://127.0.0.1:7070/

The program keeps everything it stores in one directory: ./data, or the one that
--data names. Settings can also be given in config.yaml or in the environment
(INDEXER_DATA, INDEXER_WORKERS, …). A flag overrides the environment, and the
environment overrides the file.`

// rootCommand builds the command line.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "indexer",
		Short:             "An incremental web index",
		Long:              long(rootHelp, statusDone, statusFailed, statusUsage, statusInUse, statusDifferences),
		Args:              cobra.ArbitraryArgs,
		RunE:              a.runRoot,
		PersistentPreRunE: a.configure,
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{reason: flagReason(cmd, err), help: cmd.CommandPath()}
	})
	flags := root.PersistentFlags()
	flags.String("data", a.cfg.Data, "`directory` that holds everything the program stores")
	flags.String("store", a.cfg.Store, "`URL` of a database that many processes share (default: in the data directory)")
	flags.String("index", a.cfg.Index, "`URL` of the index that queries search (sqlite: in the data directory)")
	flags.String("oracle", a.cfg.Oracle, "`addresses` of the timestamp oracles of a shared store")
	flags.String("etcd", a.cfg.Etcd, "`addresses` of the etcd cluster that tells which processes are alive")
	flags.StringVar(&a.configFile, "config", "", "settings `file` (default: config.yaml, if it exists)")
	flags.String("log-level", a.cfg.LogLevel, "minimum `level` of log messages: debug, info, warn or error")
	flags.String("format", a.cfg.Format, "`format` of results: text or json")
	setSettings(flags, map[string]string{
		"data": "data", "store": "store", "index": "index", "oracle": "oracle", "etcd": "etcd", "log-level": "log_level", "format": "format",
	})
	root.CompletionOptions.DisableDefaultCmd = true // completionCommand takes its place
	root.SetHelpCommand(helpCommand())
	showDefaults(root)
	addGroup(root, "Load pages:", a.crawlCommand(), a.replayCommand(), a.packCommand())
	addGroup(root, "Use the index:", a.queryCommand(), a.similarCommand(), a.serveCommand(), a.exportCommand())
	addGroup(root, "Look inside:", a.inspectCommand(), a.traceCommand(), a.statsCommand(), a.statusCommand(), a.rankCommand(), a.scanCommand())
	addGroup(root, "Check and maintain:", a.waitCommand(), a.checkCommand(), a.verifyCommand(), a.reindexCommand(), a.gcCommand(), a.deadCommand())
	addGroup(root, "On many machines:", a.workerCommand(), a.oracleCommand(), a.copyCommand())
	root.AddCommand(completionCommand(), a.versionCommand(), a.afterFaultCommand())
	return root
}

// addGroup adds commands that the help lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// runRoot handles arguments that do not start with a command.
func (a *app) runRoot(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	word := args[0]
	switch {
	case cmd.ArgsLenAtDash() == 0 && isCommand(cmd, word):
		return &usageError{reason: fmt.Sprintf("the word after -- is not read as a command: use `indexer %s`", word), help: "indexer"}
	case isWARC(word):
		return loadsWith(word)
	case isDirectory(word):
		return &inputError{what: word, reason: "is a directory" + seedsWanted}
	case strings.Contains(word, "."):
		if s, err := seeds.ParseSeed(word); err == nil && s.Bare {
			return &usageError{reason: fmt.Sprintf("%s; to crawl a site, use `indexer crawl %s`", noCommand(cmd, word), word), help: "indexer crawl"}
		}
	}
	if strings.Contains(word, "/") {
		return &inputError{what: word, reason: "no such file" + seedsWanted}
	}
	return &usageError{reason: noCommand(cmd, word), help: "indexer"}
}

// loadsWith is the error of a WARC file where seeds are wanted.
func loadsWith(warc string) error {
	return &usageError{reason: fmt.Sprintf("to load a WARC file, use `indexer replay %s`", warc), help: "indexer replay"}
}

// withCrawl inserts the word crawl before arguments that name seeds and no command:
// `indexer seeds.txt` means `indexer crawl seeds.txt`.
func withCrawl(root *cobra.Command, args []string) []string {
	crawl, _, err := root.Find([]string{"crawl"})
	if err != nil {
		return args
	}
	word := firstWord(args, root.PersistentFlags(), crawl.Flags())
	if isCommand(root, word) || !looksLikeSeeds(word) {
		return args
	}
	return append([]string{"crawl"}, args...)
}

// isCommand is checked before the disk: with `indexer export > export`, the shell creates a
// file of that name before we look.
func isCommand(root *cobra.Command, word string) bool {
	root.InitDefaultHelpCmd()
	cmd, _, err := root.Find([]string{word})
	return err == nil && cmd != root
}

// firstWord returns the first argument that is neither a flag nor the value of a flag.
func firstWord(args []string, known ...*pflag.FlagSet) string {
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			return args[i]
		}
		for _, set := range known {
			if f := set.Lookup(name); f != nil && f.NoOptDefVal == "" {
				i++ // its value
				break
			}
		}
	}
	return ""
}

// looksLikeSeeds reports whether word is a URL, a file (such as a pipe that a shell names
// for <(command)), the path of a file that may be missing, or standard input.
func looksLikeSeeds(word string) bool {
	switch {
	case word == "-", strings.HasPrefix(word, "http://"), strings.HasPrefix(word, "https://"), strings.HasSuffix(word, ".txt"):
		return true
	case isWARC(word):
		return false
	}
	return isFile(word) || isPath(word) && !isDirectory(word)
}

// isWARC reports whether word is the name of a WARC file, such as a.warc or a.warc.gz.open. The host
// my.warchive.org is none.
func isWARC(word string) bool {
	name := filepath.Base(word)
	return strings.HasSuffix(name, ".warc") || strings.Contains(name, ".warc.gz") || strings.Contains(name, ".warc.zst")
}
