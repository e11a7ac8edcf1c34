package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/internal/killtest"
)

// failpointVariable has a child process end or stop at a step of a handover:
// "released=kill", "asked=stop".
const failpointVariable = "INDEXER_TEST_FAILPOINT"

func failpointOf(setting string) func(string) {
	at, what, _ := strings.Cut(setting, "=")
	return killtest.At(at, 1, map[string]func(){
		"kill": killtest.Die,
		"stop": func() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) },
	}[what])
}

// child is the program in a process of its own.
type child struct {
	*killtest.Child
	t   *testing.T
	cmd *exec.Cmd
}

func startChild(t *testing.T, failpoint string, args ...string) *child {
	t.Helper()
	cmd := killtest.Command(t, "indexer", args...)
	cmd.Env = append(os.Environ(), failpointVariable+"="+failpoint)
	return &child{killtest.Start(t, cmd), t, cmd}
}

// ends waits for the child and returns its exit status, -1 if it was killed.
func (c *child) ends() int { return c.Wait().ExitCode() }

// untilStopped waits until the child has stopped at its failpoint.
func (c *child) untilStopped() {
	c.t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		c.t.Fatalf("the child has not stopped: %v, %v", status, err)
	}
}

// serveChild serves a directory from a process of its own.
func serveChild(t *testing.T, failpoint, data string, args ...string) (*child, *served) {
	t.Helper()
	c := startChild(t, failpoint, append([]string{"--data", data, "serve", "--listen", "127.0.0.1:0"}, args...)...)
	_, url, _ := strings.Cut(c.Until("serving on "), "serving on ")
	return c, &served{t: t, url: strings.TrimSuffix(strings.TrimSpace(url), "/")}
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip("no named pipes: ", err)
	}
	return name
}

// attach opens a named pipe for writing once a process reads from it.
func attach(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// feed writes a file into a pipe and closes it.
func feedPipe(t *testing.T, pipe *os.File, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
}
