package crawltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"indexer/export"
	"indexer/page"
)

type document = export.Document

// The child process crawls in a directory until nothing is due, and prints each step on
// a line, so that the parent can kill it at a step of its work rather than at a time.

// What the parent passes in the environment.
const (
	childDir   = "CRAWLTEST_CHILD_DIR"
	childSeeds = "CRAWLTEST_CHILD_SEEDS" // separated by blanks
	childRoots = "CRAWLTEST_CHILD_ROOTS" // certificates to trust, in PEM
)

// childDelay is its polite delay.
const childDelay = 2 * time.Millisecond

// What it prints besides the events of Setting.Say: opened, digest DIGEST, failed
// ERROR.

func runChild() int {
	var mu sync.Mutex
	say := func(event, what string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(event, what)
	}
	if err := childCrawl(say); err != nil {
		say("failed", strconv.Quote(err.Error()))
		return 1
	}
	return 0
}

func childCrawl(say func(event, what string)) (err error) {
	ctx := context.Background()
	var seeds []page.URL
	for _, s := range strings.Fields(os.Getenv(childSeeds)) {
		u, err := page.ParseURL(s)
		if err != nil {
			return err
		}
		seeds = append(seeds, u)
	}
	s := NewSetting(os.Getenv(childDir), childDelay, seeds...)
	s.Say = say
	if err := trust(&s.Fetch, []byte(os.Getenv(childRoots))); err != nil {
		return err
	}
	session, err := Open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Repo.Close()) }()
	say("opened", "")
	if err := session.Run(ctx); err != nil {
		return err
	}
	res, err := session.Repo.Export(ctx, io.Discard)
	if err == nil {
		say("digest", res.Digest)
	}
	return err
}

// story is what a child printed before it ended.
type story struct {
	lines   int
	begun   []string // URLs that were requested
	visited []string // URLs whose visit was committed
	digest  string   // "" if it was killed before
	failed  string
}

// runChildUntil starts a child and kills it when it prints its n-th line; 0: never. It
// also reads what the child prints between that line and its death.
func runChildUntil(t testing.TB, w *Web, dir string, seeds []page.URL, n int) (s story) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, u := range seeds {
		list = append(list, string(u))
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childSeeds+"="+strings.Join(list, " "), childRoots+"="+string(w.Roots()))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // the end; a line without its end was cut by the kill
			break
		}
		s.hear(line)
		if s.lines == n {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait() // killed or failed; the story tells
	if s.failed != "" {
		t.Fatalf("the child failed: %s", s.failed)
	}
	return s
}

func (s *story) hear(line string) {
	s.lines++
	event, what, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch event {
	case "begin":
		s.begun = append(s.begun, what)
	case "visited":
		s.visited = append(s.visited, what)
	case "digest":
		s.digest = what
	case "failed":
		s.failed = what
	}
}
