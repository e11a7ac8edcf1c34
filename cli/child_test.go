package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// failpointVariable has a child process end or stop at a step of a handover:
// "released=kill", "asked=stop".
const failpointVariable = "INDEXER_TEST_FAILPOINT"

func failpointOf(setting string) func(string) {
	at, what, _ := strings.Cut(setting, "=")
	signal := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}[what]
	return func(step string) {
		if step == at && signal != 0 {
			at = "" // once
			_ = syscall.Kill(os.Getpid(), signal)
			if signal == syscall.SIGKILL {
				select {} // until it has come
			}
		}
	}
}

// child is the program in a process of its own.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	read *bufio.Reader // its standard error
	pipe *os.File
	said bytes.Buffer
}

func startChild(t *testing.T, failpoint string, args ...string) *child {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: exec.Command("indexer", args...), read: bufio.NewReader(r), pipe: r}
	c.cmd.Stderr = w
	c.cmd.Env = append(os.Environ(), failpointVariable+"="+failpoint)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it may have ended
		_ = c.cmd.Wait()
		_ = r.Close()
		if t.Failed() {
			t.Logf("%q wrote: %s", args, c.said.String())
		}
	})
	return c
}

// says reads until a line has a text, and gives that line.
func (c *child) says(text string) string {
	c.t.Helper()
	for {
		line, err := c.read.ReadString('\n')
		c.said.WriteString(line)
		if strings.Contains(line, text) {
			return line
		}
		if err != nil {
			c.t.Fatalf("it ended and never said %q: %s", text, c.said.String())
		}
	}
}

// ends waits for it and gives its exit status, -1 if it was killed.
func (c *child) ends() int {
	c.t.Helper()
	rest, err := io.ReadAll(c.read)
	if err != nil {
		c.t.Fatal(err)
	}
	c.said.Write(rest)
	_ = c.cmd.Wait() // the status says it
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// untilStopped waits until it has stopped at its failpoint.
func (c *child) untilStopped() {
	c.t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		c.t.Fatalf("it has not stopped: %v, %v", status, err)
	}
}

// serveChild serves a directory from a process of its own.
func serveChild(t *testing.T, failpoint, data string, args ...string) (*child, *served) {
	t.Helper()
	c := startChild(t, failpoint, append([]string{"--data", data, "serve", "--listen", "127.0.0.1:0"}, args...)...)
	_, url, _ := strings.Cut(c.says("serving on "), "serving on ")
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

// attach opens a named pipe for writing once somebody reads from it.
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
