package repository_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/txn"
)

// moment is when a child is killed: upon the n-th line with this event, counted
// from 1. The zero moment is never.
type moment struct {
	event string
	n     int
}

func (m moment) String() string { return fmt.Sprint(m.event, " ", m.n) }

// story is what a child said before it ended.
type story struct {
	said   map[string]int // lines by event
	digest string
	failed string
	killed bool
	rssKiB int64 // most memory it ever had resident
}

// child is a process under way.
type child struct{ *killtest.Child }

func startChild(t testing.TB, dir, web string, mode txn.Mode, change ...func(*exec.Cmd)) child {
	t.Helper()
	cmd := killtest.Role(t, "repository", childDir+"="+dir, childWeb+"="+web, fmt.Sprint(childMode, "=", int(mode)))
	for _, c := range change {
		c(cmd)
	}
	return child{killtest.Start(t, cmd)}
}

// with adds variables to a child's environment.
func with(env ...string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, env...) }
}

// listen reads what the child says, kills it when the moment has come, and waits
// for its end. What it said between the moment and its death is read as well.
func (c child) listen(kill moment) story {
	s := story{said: make(map[string]int)}
	for line := range c.Lines() {
		event, value, _ := strings.Cut(line, " ")
		s.said[event]++
		if event == saysDigest {
			s.digest = value
		}
		if kill.n > 0 && s.said[kill.event] == kill.n {
			c.Kill()
		}
	}
	s.killed, s.failed, s.rssKiB = c.Killed(), c.Failed(), maxRSS(c.Wait())
	return s
}

// killAt lets a child work until a moment, at which it waits for its death. Without that it may have
// ended before it is killed.
func killAt(t testing.TB, dir, web string, mode txn.Mode, m moment, change ...func(*exec.Cmd)) story {
	t.Helper()
	s := startChild(t, dir, web, mode, append(change, with(childWaits+"="+m.String()))...).listen(m)
	if !s.killed {
		t.Fatalf("the child was not killed: %v %s", s.said, s.failed)
	}
	return s
}

// killWhen kills the child as soon as the path matches a file. It looks all the
// time: what it waits for lasts less than any pause would.
func (c child) killWhen(pattern string) story {
	ended := make(chan story)
	go func() { ended <- c.listen(moment{}) }()
	for {
		select {
		case s := <-ended:
			return s
		default:
		}
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			c.Kill()
			return <-ended
		}
		runtime.Gosched()
	}
}

// endBySelf lets a child do all its work.
func endBySelf(t testing.TB, dir, web string, mode txn.Mode) story {
	t.Helper()
	s := startChild(t, dir, web, mode).listen(moment{})
	if s.failed != "" {
		t.Fatalf("the child failed: %s", s.failed)
	}
	return s
}
