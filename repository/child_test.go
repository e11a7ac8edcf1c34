package repository_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// The child process opens a directory, loads a web, waits until all work is done,
// exports, and closes. It prints a line for each step, so that the parent can act at a
// moment of its work and not of a clock.

// Environment variables that the parent sets for it.
const (
	childDir  = "REPOSITORY_TEST_CHILD_DIR"
	childWeb  = "REPOSITORY_TEST_CHILD_WEB" // "" loads nothing
	childMode = "REPOSITORY_TEST_CHILD_MODE"
	// Optional: how many workers, the tolerance of ranks, and the seed of the order in
	// which the web is loaded, as its files have it if there is none.
	childWorkers   = "REPOSITORY_TEST_CHILD_WORKERS"
	childTolerance = "REPOSITORY_TEST_CHILD_TOLERANCE"
	childOrder     = "REPOSITORY_TEST_CHILD_ORDER"
	// childLater set makes it load every fetch as if it had been made a year later.
	childLater = "REPOSITORY_TEST_CHILD_LATER"
	// childVerify set makes it verify before it closes; differences are a failure.
	childVerify = "REPOSITORY_TEST_CHILD_VERIFY"
	// childWaits is a moment, as its event, a space and its number, at which it waits for its death.
	childWaits = "REPOSITORY_TEST_CHILD_WAITS"
	// childReindex is how often it rebuilds the index files, and does nothing else.
	childReindex = "REPOSITORY_TEST_CHILD_REINDEX"
)

// What it says. A line is the event, and for some a space and a value.
const (
	saysOpening = "opening"
	saysOpened  = "opened"
	saysLoad    = "load"   // each fetch
	saysRuns    = "runs"   // observers have run, after the last fetch
	saysQuiet   = "quiet"  // all work is done
	saysDigest  = "digest" // with the digest
	saysClosing = "closing"
	saysClosed  = "closed"
	saysReindex = "reindex" // some clusters of a rebuild, and the end of one
)

// childBacklog keeps the observers close behind the loader: whenever the child is
// killed, there are fetches and runs of all observers under way.
const childBacklog = 40

// times is how often each event was said.
var times struct {
	sync.Mutex
	n map[string]int
}

// say writes a line, from any goroutine. If the parent is gone, the line is lost.
func say(event string, value ...any) {
	fmt.Println(append([]any{event}, value...)...)
	times.Lock()
	if times.n == nil {
		times.n = make(map[string]int)
	}
	times.n[event]++
	now := moment{event, times.n[event]}
	times.Unlock()
	if os.Getenv(childWaits) == now.String() {
		<-time.After(time.Minute) // or its parent is gone
	}
}

func childWork() error {
	ctx := context.Background()
	opts, err := childOptions()
	if err != nil {
		return err
	}
	renderer, closeBrowser := childRenderer()
	if opts.Renderer = renderer; renderer != nil {
		opts.Render = "auto"
	}
	say(saysOpening)
	r, err := repository.Open(ctx, os.Getenv(childDir), opts)
	if err != nil {
		return err
	}
	say(saysOpened)
	work := childLoad
	if os.Getenv(childReindex) != "" {
		work = childRebuild
	}
	if err := work(ctx, r); err != nil {
		return errors.Join(err, r.Close(), closeBrowser())
	}
	say(saysClosing)
	if err := errors.Join(r.Close(), closeBrowser()); err != nil {
		return err
	}
	say(saysClosed)
	return nil
}

func childRebuild(ctx context.Context, r *repository.Repository) error {
	n, err := strconv.Atoi(os.Getenv(childReindex))
	for range n {
		if err != nil {
			break
		}
		_, err = r.Reindex(ctx, func(int) { say(saysReindex) })
		say(saysReindex)
	}
	return err
}

func childOptions() (opts repository.Options, err error) {
	opts.Backlog = childBacklog
	mode, err := strconv.Atoi(os.Getenv(childMode))
	if err != nil {
		return opts, err
	}
	opts.Commit = txn.Mode(mode)
	if s := os.Getenv(childWorkers); s != "" {
		if opts.Workers, err = strconv.Atoi(s); err != nil {
			return opts, err
		}
	}
	if s := os.Getenv(childTolerance); s != "" {
		opts.RankTolerance, err = strconv.ParseFloat(s, 64)
	}
	return opts, err
}

func childLoad(ctx context.Context, r *repository.Repository) error {
	if err := childLoadWeb(ctx, r, os.Getenv(childWeb), func() { say(saysLoad) }); err != nil {
		return err
	}
	stop := sayRuns(r)
	err := r.Quiesce(ctx)
	stop()
	if err != nil {
		return err
	}
	say(saysQuiet)
	res, err := r.Export(ctx, io.Discard)
	if err != nil {
		return err
	}
	say(saysDigest, res.Digest)
	if os.Getenv(childVerify) == "" {
		return nil
	}
	rep, err := verify.Run(ctx, r)
	if err == nil && rep.Total > 0 {
		err = fmt.Errorf("verify found %d differences, the first: %v", rep.Total, rep.Differences[0])
	}
	return err
}

func childLoadWeb(ctx context.Context, r *repository.Repository, web string, after func()) error {
	if files, ok := strings.CutPrefix(web, streamed); ok {
		_, err := loadFrom(ctx, r, 4, after, func(ctx context.Context, queue chan<- *page.Fetch) error {
			return readAll(ctx, strings.Split(files, ","), queue)
		})
		return err
	}
	if web == "" {
		return nil
	}
	fetches, err := readWeb(web)
	if err != nil {
		return err
	}
	if s := os.Getenv(childOrder); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return err
		}
		fetches = shuffled(rand.New(rand.NewPCG(seed, 0)), fetches)
	}
	if os.Getenv(childLater) != "" {
		fetches = aYearLater(fetches)
	}
	_, err = loadAll(ctx, r, 4, fetches, after)
	return err
}

// sayRuns prints a line whenever observers have run, until stopped. It checks once a
// millisecond, but its lines depend only on the work.
func sayRuns(r *repository.Repository) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		var last int64
		for {
			select {
			case <-done:
				return
			case <-look.C:
			}
			if n := runs(r); n != last {
				last = n
				say(saysRuns)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// runs counts the runs of all observers since the repository was opened.
func runs(r *repository.Repository) (n int64) {
	for _, o := range r.Live().Observers {
		n += o.Runs
	}
	return n
}
