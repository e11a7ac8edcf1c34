package repository_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
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
		if !c.story.killed && kill.n > 0 && c.story.said[kill.event] == kill.n {
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
	if err := c.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	c.story.killed = true
}

// end waits for the process. A child that was killed when it had ended already
// counts as not killed.
func (c *child) end(t testing.TB) {
	t.Helper()
	err := c.cmd.Wait()
	state := c.cmd.ProcessState
	c.story.rssKiB = maxRSS(state)
	if state.Exited() {
		c.story.killed = false
		if (err == nil) == (c.story.failed != "") {
			t.Errorf("the child ended with %v, and said that it failed with %q", err, c.story.failed)
		}
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
