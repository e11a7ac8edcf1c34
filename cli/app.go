package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/internal/longjson"
	"github.com/webindexer/indexer/repository"
)

// app is one run of the program: what its commands share.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr *console

	configFile string // the flag --config

	process bool // this process was started for the command; false in tests
	// freeBytes returns the free space of the disk; nil: ask the disk.
	freeBytes func() (int64, error)

	// settingsFile reads the settings file, once.
	settingsFile func() (config.File, error)

	// Set by configure.
	command string                 // as typed, such as "indexer replay"
	given   map[string]config.Flag // settings that flags set, by key
	cfg     config.Config
	log     *zap.Logger

	// Set by single commands, for what they share with others.
	shards      []string           // query, similar, serve: the places that --shard names
	beginsCrawl bool               // crawl, serve: opening the repository starts a crawl
	archive     string             // crawl, serve: where WARC files are written, which may be in the data directory
	standby     *standby           // serve: set before the server opens anything
	share       repository.Share   // worker: what it does on a shared store
	reindexes   func(clusters int) // reindex: opening the repository rebuilds the index files, whatever is in their place
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{stdin: stdin, stdout: stdout, stderr: &console{w: stderr}, cfg: config.Default(), log: zap.NewNop()}
	a.settingsFile = sync.OnceValues(func() (config.File, error) { return config.ReadFile(a.configFile) })
	return a
}

// configure loads the settings for a command.
func (a *app) configure(cmd *cobra.Command, _ []string) error {
	if completes(cmd) {
		return nil // mistakes in the settings must not break completion
	}
	a.given = givenSettings(cmd)
	a.command = cmd.CommandPath()
	file, err := a.settingsFile()
	if err != nil {
		return err
	}
	if a.cfg, err = file.Load(a.given); err != nil {
		return err
	}
	if err := a.checkShared(); err != nil {
		return err
	}
	for _, unknown := range config.UnknownVariables() {
		_, _ = fmt.Fprintln(a.stderr, "indexer: "+unknown)
	}
	level, err := zapcore.ParseLevel(a.cfg.LogLevel)
	if err != nil {
		return fmt.Errorf("log level: %w", err)
	}
	a.log = newLogger(a.stderr, level)
	// net/http reports malformed responses to the standard logger; show them at level
	// debug only.
	if _, err := zap.RedirectStdLogAt(a.log, zapcore.DebugLevel); err != nil {
		return fmt.Errorf("redirect the standard log: %w", err)
	}
	return nil
}

// checkShared refuses flags that are for a shared store if the store is in the data directory. In
// the file or the environment they may stand for other commands, so it only says that they do nothing.
func (a *app) checkShared() error {
	if a.isShared() {
		return nil
	}
	_, chosen := a.given["store"]
	for _, s := range []struct {
		key   string
		isSet bool
	}{{"oracle", a.cfg.Oracle != ""}, {"etcd", a.cfg.Etcd != ""}, {"index_shards", a.cfg.IndexShards > 1}} {
		flag, isFlag := a.given[s.key]
		switch {
		case !s.isSet:
		case isFlag:
			return &usageError{reason: "--" + flag.Name + " is for a store that processes share, and this one is in the data directory: give --store URL as well, or leave it out", help: a.command}
		case !chosen:
			_, _ = fmt.Fprintf(a.stderr, "indexer: the setting %s has no effect without the setting store: the store is in the data directory\n", s.key)
		}
	}
	return nil
}

func newLogger(w io.Writer, level zapcore.Level) *zap.Logger {
	enc := zap.NewDevelopmentEncoderConfig()
	enc.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	enc.EncodeCaller = nil
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(enc), zapcore.AddSync(w), level))
}

// printJSON prints v as one object on one line.
func printJSON(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(longjson.Plain(line.Bytes()))
	return err
}

// printResult prints the result of a command: v in the format json, otherwise text.
func printResult(w io.Writer, format string, v any, text string) error {
	if format == "json" {
		return printJSON(w, v)
	}
	_, err := io.WriteString(w, text)
	return err
}

// printLines prints a list: in the format json each item on a line of its own, otherwise text.
func printLines[T any](w io.Writer, format string, items []T, text string) error {
	if format != "json" {
		_, err := io.WriteString(w, text)
		return err
	}
	for _, item := range items {
		if err := printJSON(w, item); err != nil {
			return err
		}
	}
	return nil
}

// isJSON reports whether results are wanted as JSON.
func (a *app) isJSON() bool { return a.cfg.Format == "json" }
