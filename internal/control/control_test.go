package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves dir until the end of the test.
func serve(t *testing.T, dir string, h Handler) *Server {
	t.Helper()
	s, err := Serve(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func echo(_ context.Context, req Request, stdout, stderr io.Writer) int {
	fmt.Fprintf(stdout, "out %s %v %s\n", req.Command, req.Args, req.Format)
	fmt.Fprintln(stderr, "err")
	return 5
}

func TestOutputAndStatusArePassedOn(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, echo)
	var stdout, stderr bytes.Buffer
	status, err := Ask(t.Context(), dir, Request{Command: "stats", Args: []string{"a", "b c"}, Format: "json"}, &stdout, &stderr)
	if err != nil || status != 5 {
		t.Fatalf("status %d, %v", status, err)
	}
	if got, want := stdout.String(), "out stats [a b c] json\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got, want := stderr.String(), "err\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}

// A request holds all the arguments that a command line can have.
func TestManyArguments(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, func(_ context.Context, req Request, _, _ io.Writer) int { return len(req.Args) / 1000 })
	args := slices.Repeat([]string{"https://example.com/page"}, 9000)
	if status, err := Ask(t.Context(), dir, Request{Args: args}, io.Discard, io.Discard); err != nil || status != 9 {
		t.Errorf("status %d, %v", status, err)
	}
}

// Both streams arrive in the order in which the handler wrote.
func TestOrderOfStreams(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, func(_ context.Context, _ Request, stdout, stderr io.Writer) int {
		for i := range 3 {
			fmt.Fprintln(stdout, "out", i)
			fmt.Fprintln(stderr, "err", i)
		}
		return 0
	})
	var both bytes.Buffer
	if _, err := Ask(t.Context(), dir, Request{}, &both, &both); err != nil {
		t.Fatal(err)
	}
	if got, want := both.String(), "out 0\nerr 0\nout 1\nerr 1\nout 2\nerr 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMuchOutput(t *testing.T) {
	dir := t.TempDir()
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // a megabyte
	serve(t, dir, func(_ context.Context, _ Request, stdout, _ io.Writer) int {
		_, _ = stdout.Write(want[:7])
		_, _ = stdout.Write(want[7:])
		return 0
	})
	var stdout bytes.Buffer
	if status, err := Ask(t.Context(), dir, Request{}, &stdout, io.Discard); err != nil || status != 0 {
		t.Fatalf("status %d, %v", status, err)
	}
	if !bytes.Equal(stdout.Bytes(), want) {
		t.Errorf("got %d bytes, want %d", stdout.Len(), len(want))
	}
}

func TestNobodyAnswers(t *testing.T) {
	if _, err := Ask(t.Context(), t.TempDir(), Request{}, io.Discard, io.Discard); !errors.Is(err, ErrNobody) {
		t.Errorf("empty directory: %v", err)
	}
	if _, err := Ask(t.Context(), filepath.Join(t.TempDir(), "none"), Request{}, io.Discard, io.Discard); !errors.Is(err, ErrNobody) {
		t.Errorf("no directory: %v", err)
	}
}

// A killed process leaves its socket: it gets no answers, and the next server replaces
// it.
func TestStaleSocket(t *testing.T) {
	dir := t.TempDir()
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil { // leaves the file
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, socketName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Ask(t.Context(), dir, Request{}, io.Discard, io.Discard); !errors.Is(err, ErrNobody) {
		t.Errorf("stale socket: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, privatePrefix+"killed"), 0o700); err != nil {
		t.Fatal(err)
	}
	serve(t, dir, echo)
	if status, err := Ask(t.Context(), dir, Request{}, io.Discard, io.Discard); err != nil || status != 5 {
		t.Errorf("after replacing it: %d, %v", status, err)
	}
	if got := names(t, dir); got != socketName {
		t.Errorf("the directory holds %s", got)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestServedAlready(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, echo)
	if _, err := Serve(dir, echo); !errors.Is(err, ErrServed) {
		t.Fatalf("second server: %v", err)
	}
	if status, err := Ask(t.Context(), dir, Request{}, io.Discard, io.Discard); err != nil || status != 5 {
		t.Errorf("the first does not answer any more: %d, %v", status, err)
	}
}

func TestCloseRemovesItsOwnSocketOnly(t *testing.T) {
	dir := t.TempDir()
	s, err := Serve(dir, echo)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil { // as if a user had cleaned up
		t.Fatal(err)
	}
	serve(t, dir, echo)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, err := Ask(t.Context(), dir, Request{}, io.Discard, io.Discard); err != nil || status != 5 {
		t.Errorf("the other's socket is gone: %d, %v", status, err)
	}
}

func TestOnlyTheOwnerMayAsk(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, echo)
	info, err := os.Lstat(filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestLongPath(t *testing.T) {
	t.Run("short temporary directory", func(t *testing.T) {
		temp, err := os.MkdirTemp("/tmp", "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(temp)
		testLongPath(t, temp)
	})
	t.Run("long temporary directory", func(t *testing.T) {
		temp := filepath.Join(t.TempDir(), strings.Repeat("temp", 25))
		if err := os.Mkdir(temp, 0o700); err != nil {
			t.Fatal(err)
		}
		testLongPath(t, temp)
	})
}

func testLongPath(t *testing.T, temp string) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30), strings.Repeat("path", 30))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	s := serve(t, dir, echo)
	if status, err := Ask(t.Context(), dir, Request{}, io.Discard, io.Discard); err != nil || status != 5 {
		t.Errorf("absolute: %d, %v", status, err)
	}
	t.Chdir(dir)
	if status, err := Ask(t.Context(), ".", Request{}, io.Discard, io.Discard); err != nil || status != 5 {
		t.Errorf("relative, and so short: %d, %v", status, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := names(t, temp) + names(t, dir); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// Several goroutines of a handler may write at a time.
func TestOutputsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	const line, lines = "a line that must arrive whole\n", 3000
	serve(t, dir, func(_ context.Context, _ Request, stdout, stderr io.Writer) int {
		var writers sync.WaitGroup
		for _, w := range []io.Writer{stdout, stderr} {
			writers.Go(func() {
				for range lines {
					if _, err := io.WriteString(w, line); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		return 0
	})
	var stdout, stderr bytes.Buffer
	if _, err := Ask(t.Context(), dir, Request{Command: "export"}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat(line, lines); stdout.String() != want || stderr.String() != want {
		t.Errorf("%d and %d bytes arrived, want %d of each, in whole lines", stdout.Len(), stderr.Len(), len(want))
	}
}
