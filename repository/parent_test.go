package repository_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"indexer/txn"
)

// moment is when a child is killed: upon the n-th line with this event, counted
// from 1. The zero moment is never.
type moment struct {
	event string
	n     int
}

// story is what a child said before it ended.
type story struct {
	said   map[string]int // lines by event
	digest string
	failed string
	killed bool
	rssKiB int64 // most memory it ever had resident
}

// child is a process under way.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Reader
	story story
}

func startChild(t testing.TB, dir, web string, mode txn.Mode, change ...func(*exec.Cmd)) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childWeb+"="+web, childMode+"="+strconv.Itoa(int(mode)))
	cmd.Stderr = os.Stderr
	for _, c := range change {
		c(cmd)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &child{cmd: cmd, lines: bufio.NewReader(out), story: story{said: make(map[string]int)}}
}

// listen reads what the child says, kills it when the moment has come, and waits
// for its end. What it said between the moment and its death is read as well.
func (c *child) listen(t testing.TB, kill moment) story {
	t.Helper()
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil { // the end; a line without its end was cut by the kill
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		c.hear(line)
		if kill.n > 0 && c.story.said[kill.event] == kill.n {
			c.kill(t)
		}
	}
	c.end(t)
	return c.story
}

func (c *child) hear(line string) {
	event, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	c.story.said[event]++
	switch event {
	case saysDigest:
		c.story.digest = value
	case saysFailed:
		c.story.failed, _ = strconv.Unquote(value)
	}
}

func (c *child) kill(t testing.TB) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// killWhen kills the child as soon as the path matches a file. It looks all the
// time: what it waits for lasts less than any pause would.
func (c *child) killWhen(t testing.TB, pattern string) story {
	t.Helper()
	ended := make(chan story)
	go func() { ended <- c.listen(t, moment{}) }()
	for {
		select {
		case s := <-ended:
			return s
		default:
		}
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			c.kill(t)
			return <-ended
		}
		runtime.Gosched()
	}
}

// end waits for the process, and finds out whether the kill came in time.
func (c *child) end(t testing.TB) {
	t.Helper()
	err := c.cmd.Wait()
	state := c.cmd.ProcessState
	c.story.rssKiB = maxRSS(state)
	c.story.killed = !state.Exited()
	if state.Exited() && (err == nil) == (c.story.failed != "") {
		t.Errorf("the child ended with %v, and said that it failed with %q", err, c.story.failed)
	}
}

// endBySelf lets a child do all its work.
func endBySelf(t testing.TB, dir, web string, mode txn.Mode) story {
	t.Helper()
	s := startChild(t, dir, web, mode).listen(t, moment{})
	if s.failed != "" {
		t.Fatalf("the child failed: %s", s.failed)
	}
	return s
}
