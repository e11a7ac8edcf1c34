package crawltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/page"
)

type document = export.Document

// The child process crawls in a directory until nothing is due, and prints each step on
// a line, so that the parent can kill it at a step of its work, and not at a time.

// What the parent passes in the environment.
const (
	childDir   = "CRAWLTEST_CHILD_DIR"
	childSeeds = "CRAWLTEST_CHILD_SEEDS" // separated by blanks
	childRoots = "CRAWLTEST_CHILD_ROOTS" // certificates to trust, in PEM
)

// childDelay is its polite delay.
const childDelay = 2 * time.Millisecond

// childCrawl prints the events of Setting.Say, opened, and digest DIGEST.
func childCrawl() (err error) {
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
	s = childRendering(s)
	s.Say = func(event, what string) { fmt.Println(event, what) }
	if err := trust(&s.Fetch, []byte(os.Getenv(childRoots))); err != nil {
		return err
	}
	session, err := Open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Repo.Close()) }()
	fmt.Println("opened")
	if err := session.Run(ctx); err != nil {
		return err
	}
	res, err := session.Repo.Export(ctx, io.Discard)
	if err == nil {
		fmt.Println("digest", res.Digest)
	}
	return err
}

// story is what a child printed before it ended.
type story struct {
	lines   int
	begun   []string // URLs that were requested
	visited []string // URLs whose visit was committed
	digest  string   // "" if it was killed before
}

// runChildUntil starts a child and kills it when it prints its n-th line; 0: never. It
// also reads what the child prints between that line and its death.
func runChildUntil(t testing.TB, w *Web, dir string, seeds []page.URL, n int, env ...string) (s story) {
	t.Helper()
	var list []string
	for _, u := range seeds {
		list = append(list, string(u))
	}
	c := killtest.Start(t, killtest.Role(t, "crawl", append(env, childDir+"="+dir, childSeeds+"="+strings.Join(list, " "), childRoots+"="+string(w.Roots()))...))
	for line := range c.Lines() {
		s.hear(line)
		if s.lines == n {
			c.Kill()
		}
	}
	if err := c.Failed(); err != "" {
		t.Fatalf("the child failed: %s", err)
	}
	return s
}

func (s *story) hear(line string) {
	s.lines++
	event, what, _ := strings.Cut(line, " ")
	switch event {
	case "begin":
		s.begun = append(s.begun, what)
	case "visited":
		s.visited = append(s.visited, what)
	case "digest":
		s.digest = what
	}
}
