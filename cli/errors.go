package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"indexer/config"
	"indexer/control"
	"indexer/index"
	"indexer/notify"
	"indexer/replay"
	"indexer/repository"
	"indexer/sites"
	"indexer/store"
	"indexer/txn"
	"indexer/web"
)

// The exit statuses; they are part of the contract with whoever calls.
const (
	statusDone        = 0
	statusFailed      = 1
	statusUsage       = 2
	statusNoSpace     = 3
	statusInUse       = 4
	statusDifferences = 5
	statusInterrupted = 130
)

// statusAskAgain is how a process that is giving the data directory to another one ends
// what it was asked. No command ends with it.
const statusAskAgain = 75

// statusMeaning is what help says of a status.
var statusMeaning = map[int]string{
	statusDone:        "done",
	statusFailed:      "failed",
	statusUsage:       "bad usage, configuration or input",
	statusNoSpace:     "no space left on the disk",
	statusInUse:       "the data directory is in use by another process, which could not be asked",
	statusDifferences: "differences were found",
	statusInterrupted: "interrupted before everything was done",
}

// usageError is a command line that cannot be meant.
type usageError struct {
	reason string
	help   string // the command whose help says more
}

func (e *usageError) Error() string { return e.reason }

// inputError is a file, or a URL, that cannot be used.
type inputError struct {
	what   string
	reason string
}

func (e *inputError) Error() string { return e.what + ": " + e.reason }

// statusError is the exit status of a command that another process ran; it said
// all there was to say.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

var (
	errNoData       = errors.New("there is nothing in this data directory yet")
	errNoIndexFiles = errors.New("the index files of this data directory are missing")
	errForeign      = errors.New("this directory holds something else")
	errDifferences  = errors.New("what the observers left is not what the fetches mean")
	errAskAgain     = errors.New("the process that holds the data directory gave it to another one before its answer was complete")
	errNotAsked     = errors.New("the data directory is in use by another process, and it could not be asked")
)

// outcome is what an error means to whoever called, and what to do about it.
type outcome struct {
	matches func(error) bool
	status  int
	hint    string
}

// reindexHint is for index files that are of no use, beside a store that has
// everything.
const reindexHint = "`indexer reindex` rebuilds the index files from the store; nothing is lost"

// outcomes is the one place where errors become exit statuses. The first that
// matches decides, so the graver ones come first.
var outcomes = []outcome{
	{isFull, statusNoSpace, "make room on the disk and run the same command again: nothing that was loaded is lost"},
	{is(errFault), statusFailed, "look at the disk; `indexer check` tells whether what is stored fits together"},
	{is(store.ErrUnwritable), statusFailed, "see what became of the data directory, and run the same command again"},
	{is(errDifferences), statusDifferences, "the index can be made anew: replay the same files into an empty data directory, and please report it"},
	{onlyIndexProblems, statusDifferences, reindexHint},
	{is(errProblems), statusDifferences, "the index can be made anew: load the same pages into an empty data directory, and please report it"},
	{is(errNothingFetched), statusFailed, "check the seeds' hosts and the network; what could not be fetched is kept, and the same command tries it again"},
	{is(errStillBusy), statusFailed, "`indexer stats` tells what is left"},
	{is(txn.ErrBelowSafePoint), statusUsage, "`indexer gc pins` lists what is kept; the setting history keeps the past for longer"},
	{is(repository.ErrFuture), statusUsage, ""},
	{is(txn.ErrNoPin), statusUsage, "`indexer gc pins` lists the pins"},
	{is(notify.ErrNoLetter), statusUsage, "`indexer dead list` lists what there is"},
	{is(web.ErrAddress), statusUsage, ""},
	{is(web.ErrExposed), statusUsage, "or listen on 127.0.0.1, and let a proxy with TLS in front of it be reached"},
	{is(index.ErrBehind), statusFailed, reindexHint},
	{index.IsDamage, statusFailed, reindexHint},
	{is(store.ErrCorrupt), statusFailed, "replay the same files into a new data directory"},
	{is(control.ErrSilent), statusInUse, "see what it waits for, or end it: what it loaded is saved, and the same command again goes on"}, // see silentHint
	{is(errNotAsked, store.ErrInUse, index.ErrLocked, control.ErrServed, control.ErrRefused), statusInUse, "until that process is done, the commands that only look or wait (query, inspect, stats, export, verify, scan, check, wait, …) can be used all the same"},
	{is(control.ErrCutOff, errAskAgain), statusFailed, "run the same command again"},
	{as[*interruptedError](), statusInterrupted, "everything up to here is saved; the same command again goes on"},
	{is(errInterrupted, context.Canceled), statusInterrupted, "the result is not complete; run the same command again"},
	{is(errNoData, index.ErrNoIndex), statusUsage, "fill it with `indexer crawl SEEDS.txt` or `indexer replay FILE.warc.gz`, or name another directory with --data"},
	{is(errNoIndexFiles), statusUsage, reindexHint},
	{is(index.ErrForeign, index.ErrOldFormat, repository.ErrOtherIndex), statusUsage, reindexHint},
	{is(errForeign, store.ErrForeign), statusUsage, "name an empty or new directory with --data; nothing was changed in this one"},
	{is(repository.ErrReindexing), statusFailed, "queries are answered meanwhile"},
	{is(store.ErrNewerFormat, index.ErrNewerFormat), statusUsage, "use the version of the program that wrote it, or a later one; nothing was changed"},
	{as[*usageError](), statusUsage, ""},   // says it itself
	{as[*config.Error](), statusUsage, ""}, // see configHint
	{as[*index.UsageError](), statusUsage, "see `indexer query --help` for what a query may hold"},
	{as[*sites.Error](), statusUsage, "the form of a site's text is described in package sites"},
	{as[*inputError](), statusUsage, ""},
	{as[*replay.InputError](), statusUsage, ""},
	{is(errDenied), statusFailed, "a data directory is for its owner only, unless the setting group_access opens it to its group"},
	{is(syscall.EPIPE), statusDone, ""}, // whoever read the output has seen enough
}

func isFull(err error) bool {
	return errors.Is(err, store.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || index.IsFull(err)
}

func is(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
}

// onlyIndexProblems: a check found the store sound, and the index files not.
func onlyIndexProblems(err error) bool {
	return errors.Is(err, errIndexProblems) && !errors.Is(err, errProblems)
}

func as[T error]() func(error) bool {
	return func(err error) bool {
		var target T
		return errors.As(err, &target)
	}
}

// outcomeOf reports false for an error that is not among outcomes.
func outcomeOf(err error) (outcome, bool) {
	for _, candidate := range outcomes {
		if candidate.matches(err) {
			return candidate, true
		}
	}
	return outcome{status: statusFailed}, false
}
