// Package killtest lets a test start a process, follow its work line by line, and kill it
// at a chosen step. The process is the test binary itself in another role.
//
// A kill after a fixed time hits a different step on each machine, and mostly the same few
// steps. Here the child writes a line at each step, and the test kills it on a line of its
// choice; or the child kills itself at a step that the test has named (At).
//
//	func TestMain(m *testing.M) {
//		killtest.Main(map[string]func() error{"writer": writeForever})
//		goleak.VerifyTestMain(m)
//	}
//
//	c := killtest.Start(t, killtest.Role(t, "writer", "DIR="+dir))
//	for line := range c.Lines() {
//		if … { c.Kill() }
//	}
//	if !c.Killed() { … }
//
// No child outlives its test, and none runs longer than a bound.
package killtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
)

// role names, in the environment of a child, what it is to do.
const role = "KILLTEST_ROLE"

// failed begins the line with the error, quoted, that a role has returned.
const failed = "failed "

// Main runs a role and ends the process if this process is a child, and returns at once
// if it is not. It must be the first call of TestMain.
func Main(roles map[string]func() error) {
	name, ok := os.LookupEnv(role)
	if !ok {
		return
	}
	run, ok := roles[name]
	if !ok {
		run = func() error { return fmt.Errorf("no role %q in this test binary", name) }
	}
	if err := run(); err != nil {
		fmt.Println(failed + strconv.Quote(err.Error()))
		os.Exit(1)
	}
	os.Exit(0)
}

// Die kills this process. It does not return.
func Die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

// At returns a failpoint: a function that does something upon its nth call with this
// step, counted from 1, and nothing otherwise. It may be called from any goroutine.
func At(step string, nth int, do func()) func(step string) {
	var visits atomic.Int64
	return func(s string) {
		if s == step && visits.Add(1) == int64(nth) {
			do()
		}
	}
}

// Role returns a command that runs this test binary in a role, with variables
// ("NAME=value") added to the environment. Its standard error is the test's.
func Role(t testing.TB, as string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := Command(t, exe)
	cmd.Env = append(append(os.Environ(), role+"="+as), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Command returns a command that fails the test if it runs for too long: it is then
// ended with the stacks of its goroutines.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	bound := 5 * time.Minute // the children of short tests take seconds
	if testenv.Long() {
		bound = time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 10 * time.Second // then it is killed
	cmd.Cancel = func() error {
		t.Errorf("%s has not ended after %v", cmd, bound)
		return cmd.Process.Signal(syscall.SIGQUIT)
	}
	return cmd
}

// Child is a process that a test has started. One goroutine may use it, and any may call
// Kill.
type Child struct {
	t      testing.TB
	cmd    *exec.Cmd
	read   *bufio.Reader
	wait   func() *os.ProcessState
	said   strings.Builder
	failed string
}

// Start starts a command of Role or Command. Its standard output and standard error, as
// far as cmd does not send them elsewhere, are what Lines yields. If it still runs when
// the test ends, it is killed.
func Start(t testing.TB, cmd *exec.Cmd) *Child {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Stdout == nil {
		cmd.Stdout = w
	}
	if cmd.Stderr == nil {
		cmd.Stderr = w
	}
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	c := &Child{t: t, cmd: cmd, read: bufio.NewReader(r)}
	c.wait = sync.OnceValue(func() *os.ProcessState {
		for range c.Lines() {
		}
		_ = cmd.Wait() // the state says how it ended
		_ = r.Close()
		return cmd.ProcessState
	})
	t.Cleanup(func() {
		c.Kill()
		c.wait()
		if t.Failed() {
			t.Logf("%s wrote, at last:\n%s", cmd, c.said.String()[max(0, c.said.Len()-4096):])
		}
	})
	return c
}

// Lines yields the lines that the child writes, without their ends, until it has ended.
// It skips a line that a kill has cut off, and the error of a role. If the caller stops
// in the middle, the next call yields the rest.
func (c *Child) Lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			line, err := c.read.ReadString('\n')
			c.said.WriteString(line)
			if err != nil {
				return
			}
			line = strings.TrimRight(line, "\r\n")
			if text, ok := strings.CutPrefix(line, failed); ok {
				if text, err := strconv.Unquote(text); err == nil {
					c.failed = text
					continue
				}
			}
			if !yield(line) {
				return
			}
		}
	}
}

// Until reads lines until one contains the text, and returns that line. It fails the test
// if the child ends before that.
func (c *Child) Until(text string) string {
	c.t.Helper()
	for line := range c.Lines() {
		if strings.Contains(line, text) {
			return line
		}
	}
	c.t.Fatalf("the child ended (%v) and never wrote %q; it wrote:\n%s", c.wait(), text, c.said.String())
	return ""
}

// Said returns all that has been read of what the child wrote.
func (c *Child) Said() string { return c.said.String() }

// Kill kills the child if it has not ended. What it wrote before can still be read.
func (c *Child) Kill() { c.Signal(os.Kill) }

// Signal sends a signal to the child if it has not ended.
func (c *Child) Signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Errorf("%v to the child: %v", s, err)
	}
}

// Wait reads the rest of what the child writes, and waits for its end.
func (c *Child) Wait() *os.ProcessState { return c.wait() }

// Killed waits for the child's end, and reports whether it was killed. A child may end
// on its own before it is killed.
func (c *Child) Killed() bool { return !c.wait().Exited() }

// Failed waits for the child's end, and returns the error of its role, or "". A child
// that failed in another way, such as a panic, fails the test.
func (c *Child) Failed() string {
	c.t.Helper()
	if state := c.wait(); state.Exited() && state.Success() != (c.failed == "") {
		c.t.Errorf("the child ended with %v, and its role with the error %q", state, c.failed)
	}
	return c.failed
}
