package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/store"
)

// A command that is interrupted before its result is complete says so with its exit
// status, so that a shell does not continue with a part of it.
func TestInterruptedCommands(t *testing.T) {
	data := lighthouseData(t)
	out := filepath.Join(t.TempDir(), "out")
	site := "../testdata/sites/lighthouse.txt"
	for _, args := range [][]string{
		{"export"}, {"export", "-o", out}, {"verify"}, {"check"}, {"rank"}, {"rank", "--full"}, {"gc"}, {"wait"}, {"stats"},
		{"inspect", "https://skerryrock.example/"}, {"scan"}, {"dead", "list"}, {"pack", site, "-o", out},
		{"crawl", "--allow-private", "http://127.0.0.1:1/"}, {"replay", "-"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errInterrupted)
			var stdout, stderr bytes.Buffer
			if got := run(ctx, append(args, "--data", data), strings.NewReader(""), &stdout, &stderr); got != statusInterrupted {
				t.Errorf("exit status %d: %s", got, stderr.String())
			}
			if !strings.Contains(stderr.String(), "interrupted") {
				t.Errorf("it said %q", stderr.String())
			}
		})
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part got the name of the whole: %v", err)
	}
}

// The rest of a replay is reported in bytes where they are known.
func TestUnread(t *testing.T) {
	known := []*input{{name: "a", size: 1 << 20}, {name: "b", size: 3 << 20}}
	pipe := []*input{{name: "a", size: 1 << 20}, {name: "pipe", size: -1}, {name: "c", size: 1}}
	for _, tt := range []struct {
		inputs  []*input
		current int
		read    int64
		want    string
	}{
		{known, 0, 0, "4.0 MiB of 4.0 MiB to read, in 2 files"},
		{known, 1, 2 << 20, "2.0 MiB of 4.0 MiB to read, in 1 file"},
		{pipe, 0, 5, "the rest of a, and 2 more files"},
		{pipe, 2, 5, "the rest of c"},
	} {
		var l left
		l.unread(tt.inputs, tt.current, tt.read)
		l.backlog(1)
		err := l.err()
		if want := "interrupted; remaining work: " + tt.want + ", 1 row for observers"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var nothing left
	nothing.backlog(0)
	if err := nothing.err(); err != nil {
		t.Errorf("nothing is left, and it is an error: %v", err)
	}
}

// Only an error that means nothing else is put down to the interrupt.
func TestWithInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	vague := errors.New("sql: statement was cut short")
	if err := withInterrupt(ctx, vague); errors.Is(err, errInterrupted) {
		t.Errorf("nobody interrupted it: %v", err)
	}
	cancel(errInterrupted)
	for err, want := range map[error]int{vague: statusInterrupted, errDifferences: statusDifferences, statusError(4): statusInUse} {
		if got := report(withInterrupt(ctx, err), &bytes.Buffer{}, false); got != want {
			t.Errorf("%v: exit status %d, want %d", err, got, want)
		}
	}
	canceled := fmt.Errorf("export cluster 24251bd37104: %w", context.Canceled)
	if err := withInterrupt(ctx, canceled); err.Error() != "interrupted" || !errors.Is(err, canceled) {
		t.Errorf("it was canceled, and the user reads: %v", err)
	}
	queued := fmt.Errorf("copy group \"body\": %w: gave up while the write was queued: %w", store.ErrNotDone, context.Canceled)
	if err := withInterrupt(ctx, queued); err.Error() != "interrupted" {
		t.Errorf("its write was canceled, and the user reads: %v", err)
	}
	if err := withInterrupt(ctx, errors.Join(canceled, vague)); !strings.Contains(err.Error(), vague.Error()) {
		t.Errorf("another error is not told: %v", err)
	}
	if err := withInterrupt(ctx, nil); err != nil {
		t.Errorf("a command that was done all the same: %v", err)
	}
}

// TestInterruptedWhileAsking: a command that loads is interrupted while it asks another process for
// the data directory.
func TestInterruptedWhileAsking(t *testing.T) {
	data := lighthouseData(t)
	table := openStore(t, data)
	holder, err := control.Serve(data, func(context.Context, control.Request, io.Writer, io.Writer) int { return statusDone })
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errInterrupted)
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.cfg.Data = data
	if _, err := a.openToLoad(ctx); report(err, io.Discard, false) != statusInterrupted {
		t.Error(err)
	}
	if err := errors.Join(holder.Close(t.Context()), table.Close()); err != nil {
		t.Error(err)
	}
}
