package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

const deadHelp = `
Handle dead letters: rows on which an observer gave up. If an observer fails on a row again
and again, it sets the row aside, with the error, and continues with other rows. If the
row changes, the observer runs on it again.

A row is named by its URL, or as list shows it. Without a row, the command applies to all
dead letters of the observer.`

func (a *app) deadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "dead",
		Short:   "List, retry or drop the rows on which observers gave up",
		Long:    long(deadHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer dead list", "indexer dead retry document https://example.com/"),
		Args:    exactly(0, "list, retry or drop"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.deadSub("list [OBSERVER [ROW]]", "List dead letters with their errors", "List the rows on which observers gave up, with the errors."),
		a.deadSub("retry [OBSERVER [ROW]]", "Run the observers again on dead letters", "Run observers again on rows on which they gave up, and wait until they are done. If a\nrow fails again, it stays in the list, and the exit status is 1."),
		a.deadSub("drop OBSERVER [ROW]", "Forget dead letters", "Remove rows from the list of dead letters without running the observers. What the\nindex holds for these rows does not change until the observers run on them."))
	return cmd
}

func (a *app) deadSub(use, short, what string) *cobra.Command {
	do, _, _ := strings.Cut(use, " ")
	return &cobra.Command{
		Use:     use,
		Short:   short,
		Long:    long("\n"+what, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer dead " + do + " document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := cmd.CommandPath()
			switch {
			case do == "drop" && len(args) == 0:
				return &usageError{reason: name + " needs the name of an observer", help: name}
			case len(args) > 2:
				return &usageError{reason: name + " takes at most an observer and one row", help: name}
			}
			return a.ask(cmd.Context(), a.request("dead", append([]string{do}, args...)...), a.stdout)
		},
	}
}

func dead(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if len(req.Args) < 1 || len(req.Args) > 3 {
		return &usageError{reason: "the request for dead letters cannot be read"}
	}
	letters, unreadable := r.DeadLetters(ctx)
	if unreadable != nil && (req.Args[0] != "list" || len(letters) == 0) {
		return unreadable
	}
	letters, err := pickLetters(r, letters, req.Args[1:])
	if err != nil {
		return errors.Join(err, unreadable)
	}
	switch req.Args[0] {
	case "list": // damaged dead letters do not hide the others
		return errors.Join(printLetters(stdout, r, letters, req.Format), unreadable)
	case "retry":
		return retryLetters(ctx, r, letters, stdout, req.Format)
	case "drop":
		return dropLetters(ctx, r, letters, stdout, req.Format)
	}
	return &usageError{reason: fmt.Sprintf("dead has no command %q; want list, retry or drop", req.Args[0])}
}

// pickLetters selects the dead letters of an observer, or of one row.
func pickLetters(r *repository.Repository, letters []notify.DeadLetter, args []string) (picked []notify.DeadLetter, err error) {
	row := ""
	if len(args) == 2 {
		if row, err = inspect.RowPrefix(args[1]); err != nil {
			return nil, &inputError{what: args[1], reason: err.Error()}
		}
	}
	known := len(args) == 0
	for _, l := range letters {
		if len(args) > 0 && l.Observer != args[0] {
			continue
		}
		known = true
		if len(args) < 2 || l.Row == row || r.LetterRow(l) == args[1] {
			picked = append(picked, l)
		}
	}
	if !known {
		backlog := r.Live().Backlog
		if _, runs := backlog[args[0]]; !runs {
			return nil, &usageError{reason: fmt.Sprintf("there is no observer %q; there are %s", args[0], strings.Join(slices.Sorted(maps.Keys(backlog)), ", ")), help: "indexer dead"}
		}
	}
	if len(args) == 2 && len(picked) == 0 {
		return nil, fmt.Errorf("%w: %s has not given up on %s", notify.ErrNoDeadLetter, args[0], args[1])
	}
	return picked, nil
}

// letterLine is the JSON of a dead letter.
type letterLine struct {
	Observer string    `json:"observer"`
	Row      string    `json:"row"`
	Error    string    `json:"error"`
	Attempts int       `json:"attempts"`
	Time     time.Time `json:"time"`
}

func printLetters(w io.Writer, r *repository.Repository, letters []notify.DeadLetter, format string) error {
	var lines []letterLine
	var text strings.Builder
	for _, l := range letters {
		row := r.LetterRow(l)
		lines = append(lines, letterLine{l.Observer, row, l.Error, l.Attempts, l.Time})
		why, _, _ := strings.Cut(l.Error, "\n")
		fmt.Fprintf(&text, "%s %s  %s, after %s: %s\n", l.Observer, plain(row), l.Time.Format(time.RFC3339), count(l.Attempts, "attempt"), plain(why))
	}
	if len(letters) == 0 {
		text.WriteString("No observer has given up on a row.\n")
	}
	return printLines(w, format, lines, text.String())
}

// errDeadAgain says that rows failed again.
var errDeadAgain = errors.New("observers gave up again")

// retried is the JSON of retry and drop.
type retried struct {
	Rows   int `json:"rows"`
	Failed int `json:"failed"`
}

func retryLetters(ctx context.Context, r *repository.Repository, letters []notify.DeadLetter, stdout io.Writer, format string) (err error) {
	done := retried{Rows: len(letters)}
	if done.Rows > 0 { // otherwise there is nothing to wait for, and a crawl may never be idle
		if done.Failed, err = runAgain(ctx, r, letters); err != nil {
			return err
		}
	}
	return reportRetried(done, stdout, format)
}

// reportRetried prints the result of retry. Rows that failed again are an error even if nobody reads
// the result.
func reportRetried(done retried, stdout io.Writer, format string) error {
	err := printResult(stdout, format, done, fmt.Sprintf("Ran observers again on %s.\n", count(done.Rows, "row")))
	if done.Failed > 0 {
		err = errors.Join(fmt.Errorf("%w on %s; see `indexer dead list`", errDeadAgain, count(done.Failed, "row")), err)
	}
	return err
}

// runAgain runs observers again on the rows, waits until all work is done, and counts the rows that
// failed again.
func runAgain(ctx context.Context, r *repository.Repository, letters []notify.DeadLetter) (failed int, err error) {
	for _, l := range letters {
		if err := r.RetryDead(ctx, l.Observer, l.Row); err != nil {
			return 0, err
		}
	}
	if err := r.Quiesce(ctx); err != nil {
		return 0, err
	}
	left, err := r.DeadLetters(ctx)
	if err != nil {
		return 0, err
	}
	still := make(map[[2]string]bool)
	for _, l := range left {
		still[[2]string{l.Observer, l.Row}] = true
	}
	for _, l := range letters {
		if still[[2]string{l.Observer, l.Row}] {
			failed++
		}
	}
	return failed, nil
}

func dropLetters(ctx context.Context, r *repository.Repository, letters []notify.DeadLetter, stdout io.Writer, format string) error {
	for _, l := range letters {
		if err := r.DropDead(ctx, l.Observer, l.Row); err != nil {
			return err
		}
	}
	return printResult(stdout, format, retried{Rows: len(letters)}, fmt.Sprintf("Forgot %s.\n", count(len(letters), "row")))
}
