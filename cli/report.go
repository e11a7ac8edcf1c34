package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/store"
)

// reported is the JSON of an error, one object on a line. It is a contract, like the exit
// statuses.
type reported struct {
	Error  string `json:"error"`
	Status int    `json:"status"`
	Hint   string `json:"hint"` // what to do next; may be empty
}

// report prints err with a hint about what to do next, as text or as JSON, and returns the
// exit status.
func report(err error, stderr io.Writer, asJSON bool) int {
	if err == nil {
		return statusDone
	}
	if elsewhere, ok := errors.AsType[statusError](err); ok {
		return int(elsewhere)
	}
	o, _ := outcomeOf(err)
	if o.status == statusDone {
		return o.status
	}
	hint := hintFor(err, o)
	if asJSON {
		_ = printJSON(stderr, reported{Error: message(err), Status: o.status, Hint: hint}) // there is nowhere else to report it
	} else {
		say(stderr, err, hint)
	}
	return o.status
}

// hintFor returns what to do about an error. Some errors have a more specific hint than
// their outcome.
func hintFor(err error, o outcome) string {
	if u, ok := errors.AsType[*usageError](err); ok && u.help != "" {
		return "see `" + u.help + " --help`"
	}
	if c, ok := errors.AsType[*config.Error](err); ok {
		return configHint(c)
	}
	if silent, ok := errors.AsType[*control.SilentError](err); ok {
		return cmp.Or(silentHint(silent), o.hint)
	}
	if errors.Is(err, store.ErrIO) && errors.Is(err, syscall.EROFS) {
		return "make the file system writable, or copy the data directory to one that is; `indexer query` and `indexer serve` search without writing"
	}
	return o.hint
}

// wantsJSON reports whether a command line, the environment or the settings ask for JSON.
// It is for errors that occur before the settings are known: mistakes on the command line
// and in the settings themselves. The last --format counts, as usual, but a format of
// documents (export --format cdxj) says nothing about errors.
func (a *app) wantsJSON(cmd *cobra.Command, args []string) bool {
	format := os.Getenv(config.EnvPrefix + "_FORMAT")
	flag := cmd.Flag("format")
	isSetting := flag != nil && len(flag.Annotations[settingKey]) > 0
	for i, arg := range args {
		if arg == "--" {
			break
		}
		value, ok := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if ok && (isSetting || value == "json") {
			format = value
		}
	}
	if format == "" {
		file, err := a.settingsFile()
		if err != nil {
			return false
		}
		cfg, err := file.Load(nil)
		return err == nil && cfg.Format == "json"
	}
	return format == "json"
}

// silentHint says what to do about a stopped process.
func silentHint(e *control.SilentError) string {
	if !e.Process.Stopped {
		return ""
	}
	return fmt.Sprintf("continue it with `kill -CONT %d`, or end it with `kill -KILL %d`: everything it loaded is saved", e.Process.ID, e.Process.ID)
}

// configHint says where to correct a setting.
func configHint(e *config.Error) string {
	if i := strings.LastIndexByte(e.Where, ':'); i > 0 && strings.Trim(e.Where[i+1:], "0123456789") == "" && e.Where[i+1:] != "" {
		return fmt.Sprintf("edit line %s of %s, or name another file with --config; nothing was done", e.Where[i+1:], e.Where[:i])
	}
	return "nothing was done; `indexer --help` says where settings can be given"
}

// message is the text of an error, one line for each part. What stopped the observers fails
// the load as well as the end of the session: a line that only repeats the end of an earlier
// one is left out.
func message(err error) string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		line = withoutPackages(line)
		if !slices.ContainsFunc(lines, func(said string) bool { return strings.HasSuffix(said, line) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// withoutPackages removes the names of packages that begin errors and say nothing to users.
func withoutPackages(line string) string {
	for _, name := range []string{"txn: ", "notify: "} {
		line = strings.ReplaceAll(strings.TrimPrefix(line, name), ": "+name, ": ")
	}
	return line
}

// say writes an error, one line for each part, and the hint.
func say(w io.Writer, err error, hint string) {
	text := "indexer: " + strings.ReplaceAll(plainLines(message(err)), "\n", "\nindexer: ") + "\n"
	if hint != "" {
		text += "  " + hint + "\n"
	}
	_, _ = io.WriteString(w, text) // there is nowhere else to report it
}

func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}
