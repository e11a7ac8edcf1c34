package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Which error gives which exit status is a contract.
func TestExitStatus(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		hint   string
	}{
		{nil, 0, ""},
		{errors.New("anything"), 1, ""},
		{errInterrupted, 130, "the result is not complete"},
		{context.Canceled, 130, "run the same command again"},
		{&interruptedError{left: "much"}, 130, "run the same command again to continue"},
		{&usageError{reason: "what?", help: "indexer query"}, 2, "see `indexer query --help`"},
		{&config.Error{Where: "config.yaml:3", Key: "workers", Reason: "no"}, 2, "config.yaml"},
		{&search.UsageError{Reason: "no"}, 2, "indexer query --help"},
		{&inputError{what: "a.warc", reason: "no"}, 2, ""},
		{&replay.InputError{Name: "a.warc", Err: syscall.EIO}, 2, ""},
		{&sites.Error{File: "a.txt", Line: 3, Err: errors.New("no")}, 2, ""},
		{errNoData, 2, "indexer replay FILE.warc.gz"},
		{errNoIndexFiles, 2, "`indexer reindex`"},
		{errCutOffWorker, 1, "another data directory"},
		{errFilesElsewhere, 2, "`indexer status`"},
		{errLocalIndex, 2, "leave out the setting store"},
		{index.ErrNoIndex, 2, "indexer replay FILE.warc.gz"},
		{fmt.Errorf("no part of the index answers: %w", search.ErrUnavailable), 1, "start the search server or the workers"},
		{inspect.ErrNoPicture, 1, "whether the page is rendered"},
		{store.ErrForeign, 2, "--store; nothing was changed"},
		{txn.ErrMode, 2, ""},
		{store.ErrNewerFormat, 2, "later one"},
		{index.ErrNewerFormat, 2, "later one"},
		{index.ErrNotDirectory, 2, "move that file elsewhere"},
		{store.ErrNoSpace, 3, "free some space"},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 3, "free some space"},
		{errFault, 1, "indexer check"},
		{errors.Join(index.ErrNoIndex, store.ErrUnwritable), 1, "what happened to the data directory"},
		{store.ErrIO, 1, "how many files a process may open"},
		{fmt.Errorf("%w: %w", store.ErrIO, syscall.EROFS), 1, "make the file system writable"},
		{denied(fmt.Errorf("%w: %w", errNotCreated, fs.ErrPermission)), 1, "name another directory with --data"},
		{denied(fs.ErrPermission), 1, "only its owner has access"},
		{store.ErrInUse, 4, "still work"},
		{index.ErrLocked, 4, ""},
		{control.ErrRefused, 4, ""},
		{&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}, 1, "another address with --listen"},
		{errNotAsked, 4, ""},
		{fmt.Errorf("%w: %w", errNotAsked, denied(fs.ErrPermission)), 4, "only its owner has access"},
		{fmt.Errorf("%w: %w", errNotAsked, store.ErrInUse), 4, ""},
		{control.ErrCutOff, 1, "again"},
		{fmt.Errorf("%w: no answer", txn.ErrNoTimestamps), 1, "start an oracle (`indexer oracle`)"},
		{store.ErrUnavailable, 1, "when the store answers"},
		{fmt.Errorf("%w: %w", store.ErrUnavailable, syscall.EPIPE), 1, "when the store answers"},
		{errDifferences, 5, "report"},
		{statusError(5), 5, ""},
		{syscall.EPIPE, 0, ""},
		// of several errors the one that says most decides
		{errors.Join(syscall.EPIPE, errDifferences), 5, ""},
		{errors.Join(syscall.EPIPE, errDeadAgain), 1, ""},
		{errors.Join(os.NewSyscallError("write", syscall.EPIPE), errors.New("a dead letter cannot be read")), 1, ""},
		{errors.Join(syscall.EPIPE, errInterrupted), 130, ""}, // the reader may have been interrupted, too
		{errors.Join(&inputError{what: "a"}, errInterrupted), 130, ""},
		{errors.Join(errInterrupted, store.ErrNoSpace), 3, "free some space"},
		{errors.Join(&inputError{what: "a"}, store.ErrNoSpace), 3, "free some space"},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("doing something: %w", tt.err)} {
			if tt.err == nil {
				err = nil
			}
			var stderr bytes.Buffer
			if got := report(err, &stderr, false); got != tt.status {
				t.Errorf("%v: exit status %d, want %d", err, got, tt.status)
			}
			if !strings.Contains(stderr.String(), tt.hint) {
				t.Errorf("%v: no hint %q in %q", err, tt.hint, stderr.String())
			}
			if n := strings.Count(stderr.String(), "indexer: "); tt.status != 0 && n == 0 && !errors.As(err, new(statusError)) {
				t.Errorf("%v: nothing was said", err)
			}
		}
	}
}

// TestStillBusy: a wait that gives up does not contradict itself when no row waits.
func TestStillBusy(t *testing.T) {
	for waiting, want := range map[int]string{
		0: "indexer: work is still pending, or ended just now, after 1ns: no row waits, but a transaction may be open\n  `indexer stats` shows the remaining work\n",
		2: "indexer: work is still pending after 1ns: 2 rows waiting\n  `indexer stats` shows the remaining work\n",
	} {
		var stderr bytes.Buffer
		if status := report(stillBusy(1, waiting), &stderr, false); status != statusFailed || stderr.String() != want {
			t.Errorf("%d rows: exit status %d, %q, want %q", waiting, status, stderr.String(), want)
		}
	}
}

// What comes from files or the web and is part of a message cannot move the
// cursor.
func TestMessagesArePlain(t *testing.T) {
	var stderr bytes.Buffer
	report(errors.Join(errors.New("one\x1b[2J"), errors.New("two\u202e")), &stderr, false)
	if got, want := stderr.String(), "indexer: one [2J\nindexer: two \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMessagesNameNoPackages: users know nothing of the packages txn and notify.
func TestMessagesNameNoPackages(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("%w: %q", txn.ErrNoPin, "a"), `indexer: there is no such pin: "a"`},
		{fmt.Errorf("txn: pin %q: %w", "a", &txn.SafePointError{TS: 1, SafePoint: 2}), `indexer: pin "a": timestamp 1 is below`},
		{errors.Join(errors.New("one"), notify.ErrStopped), "indexer: one\nindexer: the pipeline is not running\n"},
	} {
		var stderr bytes.Buffer
		if report(tt.err, &stderr, false); !strings.HasPrefix(stderr.String(), tt.want) {
			t.Errorf("got %q, want %q", stderr.String(), tt.want)
		}
	}
}

// A failure that ends the load and the session is told once, in text and in JSON.
func TestFailureIsToldOnce(t *testing.T) {
	failure := errors.New("observer document: no space left")
	err := errors.Join(fmt.Errorf("load https://a.example/: %w", failure), failure, errors.New("publish the safe point: no space left"))
	for _, tt := range []struct {
		asJSON bool
		want   string
	}{
		{false, "indexer: load https://a.example/: observer document: no space left\nindexer: publish the safe point: no space left\n"},
		{true, `{"error":"load https://a.example/: observer document: no space left\npublish the safe point: no space left","status":1,"hint":""}` + "\n"},
	} {
		var stderr bytes.Buffer
		if report(err, &stderr, tt.asJSON); stderr.String() != tt.want {
			t.Errorf("got %s, want %s", stderr.String(), tt.want)
		}
	}
}

// TestDeniedDirectory: every command that needs the data directory of another user says whose it is.
func TestDeniedDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root has access to everything")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"crawl", "replay " + os.DevNull, "stats", "query x", "copy --to " + t.TempDir()} {
		var said bytes.Buffer
		args := append([]string{"--data", dir}, strings.Fields(command)...)
		if status := Main(t.Context(), args, strings.NewReader(""), &said, &said); status != statusFailed || !strings.Contains(said.String(), deniedHint) {
			t.Errorf("%s: exit status %d: %s", command, status, &said)
		}
	}
}
