package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/remote"
)

// The exit statuses, which are part of the contract with callers.
const (
	statusDone        = 0
	statusFailed      = 1
	statusUsage       = 2
	statusNoSpace     = 3
	statusInUse       = 4
	statusDifferences = 5
	statusInterrupted = 130
)

// statusAskAgain is the answer of a process that is releasing the data directory, or ending. It tells
// the client to ask the next holder. No command exits with it.
const statusAskAgain = 75

// statusOtherStore is the answer of a process that works on another store than the client. No
// command exits with it, either.
const statusOtherStore = 76

// statusMeaning is the text for each status in help.
var statusMeaning = map[int]string{
	statusDone:        "done",
	statusFailed:      "failed",
	statusUsage:       "bad usage, configuration or input",
	statusNoSpace:     "no space left on the disk",
	statusInUse:       "another process is using the data directory",
	statusDifferences: "differences were found",
	statusInterrupted: "interrupted before everything was done",
}

// usageError is a mistake on the command line.
type usageError struct {
	reason string
	help   string // the command whose help explains more
}

func (e *usageError) Error() string { return e.reason }

// inputError is a file, or a URL, that cannot be used.
type inputError struct {
	what   string
	reason string
}

func (e *inputError) Error() string { return cmp.Or(e.what, `""`) + ": " + e.reason }

// statusError is the exit status of a command that another process ran. That process has
// already printed the error.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

var (
	errNoData       = errors.New("this data directory is empty")
	errNoIndexFiles = errors.New("the index files of this data directory are missing")
	// errFilesElsewhere comes from a store that several processes share.
	errFilesElsewhere = errors.New("this data directory has no index files")
	errForeign        = errors.New("this is not a data directory of indexer")
	errDifferences    = errors.New("the index differs from a full recomputation")
	errNotAsked       = errors.New("the data directory is in use by another process, which could not be asked")
)

// outcome says what an error means to the caller, and what to do about it.
type outcome struct {
	matches func(error) bool
	status  int
	hint    string
}

// reindexHint is for unusable index files next to an intact store.
const reindexHint = "`indexer reindex` rebuilds the index from the store; nothing is lost"

// deniedHint is for a data directory of another user.
const deniedHint = "only its owner has access to a data directory, unless the setting group_access opens it to its group"

// outcomes is the only place that maps errors to exit statuses. The first match decides,
// so graver errors come first.
var outcomes = []outcome{
	{isFull, statusNoSpace, "free some space and run the same command again: nothing that was loaded is lost"},
	{is(errFault), statusFailed, "check the disk; `indexer check` tells whether the stored data is consistent"},
	{is(store.ErrIO), statusFailed, "check the disk and its file system, and how many files a process may open (ulimit -n); then run the same command again"},
	{is(syscall.EMFILE), statusFailed, "let a process open more files (ulimit -n), and run the same command again"},
	{is(store.ErrUnwritable), statusFailed, "find out what happened to the data directory, and run the same command again"},
	{is(errDifferences), statusDifferences, "please report this; to rebuild the index, replay the same files into an empty data directory"},
	{onlyIndexProblems, statusDifferences, reindexHint},
	{is(errProblems), statusDifferences, "please report this; to rebuild the index, load the same pages into an empty data directory"},
	{is(errPrivateSeeds), statusFailed, ""},
	{is(errNothingFetched), statusFailed, "check the hosts of the seeds and the network; the URLs are kept, and the same command tries them again"},
	{is(errStillBusy), statusFailed, "`indexer stats` shows the remaining work"},
	{is(txn.ErrBelowSafePoint), statusUsage, "`indexer gc pins` lists pinned timestamps; a longer history keeps the past for longer"},
	{is(snapshot.ErrFuture), statusUsage, ""},
	{is(txn.ErrMode), statusUsage, ""},
	{is(txn.ErrNoPin), statusUsage, "`indexer gc pins` lists the pins"},
	{is(notify.ErrNoDeadLetter), statusUsage, "`indexer dead list` lists the dead letters"},
	{is(web.ErrAddress), statusUsage, ""},
	{is(syscall.EADDRINUSE), statusFailed, "end the process that listens there, or choose another address with --listen (worker: --serve); port 0 picks a free one"},
	{is(web.ErrExposed), statusUsage, "or listen on 127.0.0.1 behind a proxy with TLS"},
	{is(search.ErrUnavailable), statusFailed, "start the search server or the workers, or correct the setting index, and run the same command again: nothing that was loaded is lost"},
	{is(index.ErrUnusable), statusFailed, "nothing that was loaded is lost; run the same command again when this is corrected"},
	{is(opensearch.ErrNotOurs), statusUsage, ""},
	{is(index.ErrBehind), statusFailed, reindexHint},
	{index.IsDamage, statusFailed, reindexHint},
	{is(store.ErrCorrupt), statusFailed, "replay the same files into a new data directory"},
	{is(control.ErrSilent), statusInUse, "find out why it waits, or end it: everything it loaded is saved, and running its command again continues"}, // see silentHint
	{is(control.ErrBusy), statusInUse, "run the same command again when it has answered some of them"},
	{is(control.ErrRefused), statusInUse, ""},
	{notAskedDenied, statusInUse, deniedHint},
	{is(errNotAsked, store.ErrInUse, index.ErrLocked, control.ErrServed), statusInUse, "commands that only read or wait still work (query, inspect, stats, export, verify, scan, check, wait, …); otherwise run this command again when that process is done"},
	{is(errSourceInUse), statusInUse, "end all workers, loaders, servers and oracles of this store, and run the same command again"},
	{is(errCutOffWorker), statusFailed, "run it with another data directory (--data), or again when the network and the store are back; `indexer status` needs no worker"},
	{is(control.ErrCutOff, remote.ErrReleased), statusFailed, "run the same command again"},
	{as[*interruptedError](), statusInterrupted, "everything so far is saved; run the same command again to continue"},
	{is(errInterrupted, context.Canceled), statusInterrupted, "the result is not complete; run the same command again"},
	{is(txn.ErrDead, oracle.ErrLapsed), statusFailed, "it was stopped, or cut off from the store, for too long; run the same command again: nothing that was loaded is lost"},
	{is(errNoData, index.ErrNoIndex), statusUsage, "fill it with `indexer crawl SEEDS.txt` or `indexer replay FILE.warc.gz`, or name another directory with --data"},
	{is(errNoIndexFiles), statusUsage, reindexHint},
	{is(errFilesElsewhere), statusUsage, "the worker that holds the lease index keeps them: run the command with its data directory, which `indexer status` shows; if it lists index-0, set index_shards as the workers do"},
	{is(errLocalIndex), statusUsage, "run the command with the data directory of the worker that holds the lease index, which `indexer status` shows; to search the store of this directory, leave out the setting store"},
	{targetNotCreated, statusFailed, "name another target with --to, or make this directory and give it to this user"},
	{is(errTarget), statusUsage, "name an empty data directory or database with --to; nothing was changed in this one"},
	{is(repository.ErrIncomplete), statusUsage, "run the same `indexer copy` command again: it continues, and the store can be used when it has ended"},
	{is(index.ErrNotDirectory), statusUsage, "move that file elsewhere, and run the same command again: the index files are made from the store"},
	{is(index.ErrForeign, index.ErrOldFormat, repository.ErrOtherIndex), statusUsage, reindexHint},
	{is(errForeign), statusUsage, "name an empty or new directory with --data; nothing was changed in this one"},
	{is(store.ErrForeign), statusUsage, "name an empty or new place with --data or --store; nothing was changed in this one"},
	{is(repository.ErrOtherShards), statusUsage, ""},
	{is(search.ErrNotIndexed), statusFailed, "`indexer inspect URL` tells whether it was fetched, and why it is not in the index"},
	{is(inspect.ErrNoPicture), statusFailed, "`indexer inspect URL` tells whether the page is rendered, and why"},
	{is(errNoShards), statusFailed, "name the places of shards with --shard, or start workers"},
	{is(errBothDivisions), statusUsage, "move the old ones elsewhere; with the setting store, the store tells which are old, and with --shard, shards are searched"},
	{is(repository.ErrNobody), statusFailed, "start a worker that offers to hold it, and run the same command again; `indexer status` shows who holds what"},
	{is(oracle.ErrOtherOracle), statusInUse, "start processes that share the store with --oracle ADDRESS"},
	{is(repository.ErrReindexing), statusFailed, "queries still work meanwhile"},
	{is(store.ErrNewerFormat, index.ErrNewerFormat), statusUsage, "use the version of the program that wrote it, or a later one; nothing was changed"},
	{as[*usageError](), statusUsage, ""},   // names the help itself
	{as[*config.Error](), statusUsage, ""}, // see configHint
	{as[*search.UsageError](), statusUsage, "see `indexer query --help` for the syntax of queries"},
	{as[*sites.Error](), statusUsage, "`indexer pack --help` describes the format"},
	{is(sites.ErrNoneSelected), statusUsage, ""},
	{as[*inputError](), statusUsage, ""},
	{as[*osfile.Error](), statusUsage, ""},
	{is(remote.ErrRequest), statusUsage, ""},
	{as[*replay.InputError](), statusUsage, ""},
	{is(errNotCreated), statusFailed, "name another directory with --data, or make this one and give it to this user"},
	{is(errDenied), statusFailed, deniedHint},
	{is(txn.ErrNoTimestamps), statusFailed, "start an oracle (`indexer oracle`) or correct the setting oracle, and run the same command again: nothing that was loaded is lost"},
	{is(store.ErrUnavailable), statusFailed, "run the same command again when the store answers: nothing that was loaded is lost"}, // may wrap EPIPE
	{isUnread, statusDone, ""},
}

func isFull(err error) bool {
	return errors.Is(err, store.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || index.IsFull(err)
}

// isUnread reports whether a command failed only because the reader of its output has seen enough.
func isUnread(err error) bool { return saysOnly(err, syscall.EPIPE) }

// notAskedDenied reports whether the process that has the data directory belongs to another user.
func notAskedDenied(err error) bool {
	return errors.Is(err, errNotAsked) && errors.Is(err, errDenied)
}

// targetNotCreated reports whether the target of a copy is a directory that could not be made.
func targetNotCreated(err error) bool {
	return errors.Is(err, errTarget) && errors.Is(err, errNotCreated)
}

func is(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
}

// onlyIndexProblems reports whether check found problems in the index files but none in
// the store.
func onlyIndexProblems(err error) bool {
	return errors.Is(err, errIndexProblems) && !errors.Is(err, errProblems)
}

func as[T error]() func(error) bool {
	return func(err error) bool {
		_, ok := errors.AsType[T](err)
		return ok
	}
}

// outcomeOf returns false if no outcome matches.
func outcomeOf(err error) (outcome, bool) {
	for _, candidate := range outcomes {
		if candidate.matches(err) {
			return candidate, true
		}
	}
	return outcome{status: statusFailed}, false
}
