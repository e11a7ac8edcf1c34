package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/warc"
)

// summary is the result of a replay: the JSON of `replay --format json`.
type summary struct {
	Files       int     `json:"files"`
	Records     int64   `json:"records"`
	Fetches     int64   `json:"fetches"` // loaded; the sum of the next four
	Changed     int64   `json:"changed"`
	Renewed     int64   `json:"renewed"`
	Late        int64   `json:"late"`
	Failed      int64   `json:"failed"`
	Problems    int     `json:"problems"`
	Interrupted bool    `json:"interrupted"`
	Incomplete  bool    `json:"incomplete,omitempty"` // after an interrupt, not everything could be counted
	Backlog     int     `json:"backlog"`              // rows left to do
	Documents   int     `json:"documents"`
	Seconds     float64 `json:"seconds"`
	Data        string  `json:"data"`
}

// noteProblem keeps the first problems, and counts all.
func (r *replayRun) noteProblem(p warc.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sum.Problems++; len(r.problems) < maxListed {
		r.problems = append(r.problems, p.String())
	}
}

// printSummary prints problems on standard error and the result on standard output. It
// returns an error about files that could not be read.
func (r *replayRun) printSummary(a *app) error {
	if err := r.finishSummary(a); err != nil {
		return err
	}
	r.sum.Incomplete = r.unknown != nil
	if text := problemsText(r.problems, r.sum.Problems); text != "" {
		_, _ = io.WriteString(a.stderr, text)
	}
	err := printResult(a.stdout, a.cfg.Format, &r.sum, r.summaryText(a))
	return errors.Join(append(r.unusable, err, r.left.err(), r.unknown)...)
}

// finishSummary adds the final figures.
func (r *replayRun) finishSummary(a *app) error {
	s, c := &r.sum, &r.counts
	s.Records, s.Fetches = c.Records.Load(), r.loaded()
	s.Changed, s.Renewed, s.Late, s.Failed = c.Changed.Load(), c.Renewed.Load(), c.Late.Load(), c.Failed.Load()
	if r.unknown != nil { // do not wait for the same failure again
		return nil
	}
	ctx, cancel := r.session.countContext(s.Interrupted)
	defer cancel()
	err := r.countStored(ctx, a)
	if s.Interrupted && err != nil {
		r.unknown, err = incomplete(err), nil
	}
	return err
}

// countStored counts what is left to do and what is in the index.
func (r *replayRun) countStored(ctx context.Context, a *app) (err error) {
	s := &r.sum
	switch {
	case s.Interrupted: // it is counted, and observers may have done some since
	case a.isShared(): // other processes have rows, too
		if s.Backlog, err = allWaiting(ctx, r.session.repo); err != nil {
			return err
		}
	default:
		s.Backlog = rowsWaiting(r.session.repo)
	}
	s.Documents, err = a.countDocuments(ctx, r.session.repo)
	return err
}

func problemsText(problems []string, total int) string {
	if total == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in the files; everything readable was loaded:\n", count(total, "problem"))
	for _, p := range problems {
		fmt.Fprintf(&b, "  %s\n", plain(p))
	}
	if more := total - len(problems); more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return b.String()
}

func (r *replayRun) summaryText(a *app) string {
	s := r.sum
	var b strings.Builder
	fmt.Fprintf(&b, "Loaded %s from %s in %s (%.0f a second).\n",
		fetchCount(s.Fetches), count(s.Files, "file"), progress.Duration(fromSeconds(s.Seconds)), float64(s.Fetches)/max(s.Seconds, 1e-3))
	fmt.Fprintf(&b, "  %d changed something, %d renewed, %d late or known, %d failed, %s.\n",
		s.Changed, s.Renewed, s.Late, s.Failed, count(s.Problems, "problem"))
	if s.Interrupted {
		fmt.Fprintf(&b, "Interrupted: everything loaded so far is saved. Run the same command again to continue.\n")
	}
	if s.Backlog > 0 {
		when := "when the directory is next opened"
		if a.isShared() {
			when = "wherever `indexer worker` runs"
		}
		fmt.Fprintf(&b, "Observers still have %s to process; they continue %s.\n", count(s.Backlog, "row"), when)
	}
	if s.Incomplete {
		return b.String()
	}
	fmt.Fprintf(&b, "%s has %s.", a.indexPlace(), count(s.Documents, "document"))
	if l := r.session.repo.Live().FetchToSearchableMS; l.N > 0 {
		fmt.Fprintf(&b, " Pages were searchable %s after loading (median; 95 %%: %s).",
			progress.Duration(fromMS(l.P50)), progress.Duration(fromMS(l.P95)))
	}
	b.WriteByte('\n')
	if s.Documents > 0 {
		b.WriteString(a.suggestSearch())
	}
	return b.String()
}

func fetchCount(n int64) string {
	if n == 1 {
		return "1 fetch"
	}
	return fmt.Sprintf("%d fetches", n)
}

// placeFlags are the flags of a suggested command that finds the same index.
func (a *app) placeFlags() string {
	var flags strings.Builder
	if a.configFile != "" {
		flags.WriteString("--config " + shellWord(a.configFile) + " ")
	}
	for _, key := range []string{"data", "index"} {
		if f, isFlag := a.given[key]; isFlag { // the settings name the others
			flags.WriteString("--" + f.Name + " " + shellWord(f.Value) + " ")
		}
	}
	return flags.String()
}

var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// shellWord quotes a word of a suggested command if a shell would not take it as one word.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
