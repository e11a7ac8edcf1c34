package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A worker that is cut off from its store waits, and continues when the store is back. A
// command that it runs for a user must not wait with it in silence: the user can do
// something else, such as running the command with another data directory.

const (
	// cutOffNotice is how long after its last sign of life a process tells its client that it waits.
	cutOffNotice = 2 * time.Second
	// cutOffTimeout is how long after that sign it gives up the command.
	cutOffTimeout = 20 * time.Second
	cutOffEvery   = 500 * time.Millisecond
)

var errCutOffWorker = errors.New("the process that uses this data directory cannot reach the store")

// whileConnected runs a command for another process. It gives up if this process shows no
// sign of life for too long, as valid reports. Before that, it says why the command waits.
func whileConnected(ctx context.Context, valid func() error, stderr io.Writer, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { watchConnection(ctx, cancel, valid, stderr) })
	err := run(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCutOffWorker) {
		err = cause // not its consequence
	}
	cancel(nil)
	watch.Wait()
	return err
}

// watchConnection cancels ctx after cutOffTimeout, and returns when ctx ends.
func watchConnection(ctx context.Context, cancel context.CancelCauseFunc, valid func() error, stderr io.Writer) {
	ticker := time.NewTicker(cutOffEvery)
	defer ticker.Stop()
	var since time.Time
	for told := false; ; {
		err := valid()
		switch {
		case err == nil:
			since, told = time.Time{}, false
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= cutOffTimeout:
			cancel(fmt.Errorf("%w: %w", errCutOffWorker, err))
			return
		case time.Since(since) >= cutOffNotice && !told:
			told = true
			_, _ = fmt.Fprintf(stderr, "waiting: %v (%v); giving up in %v\n", errCutOffWorker, err, cutOffTimeout-cutOffNotice)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
