package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
)

// How long to wait for a data directory that another process holds.
const (
	// dyingFor is for a holder that does not answer: it is busy, starting or stopping, or it was
	// killed and the kernel has not finished cleaning up. On a busy machine each may take
	// seconds, and a crawl must not fail because another command asked for stats as it
	// began.
	dyingFor = 10 * time.Second
	// releaseFor is for a holder that is releasing the directory.
	releaseFor = 30 * time.Second
)

// heldError says which process is working in a data directory.
type heldError struct {
	dir   string
	by    holding
	inUse error // matches store.ErrInUse
}

func (e *heldError) Error() string {
	return fmt.Sprintf("the data directory %s is in use by another process: %s is working in it", e.dir, e.by)
}

func (e *heldError) Unwrap() error { return e.inUse }

// openToLoad opens the data directory for a command that loads, and creates it if it does
// not exist. What it does while another process holds the directory depends on that process:
//
//   - It asks a server that does not crawl to release the directory.
//   - It waits for a command that only reads, and for a process that does not answer, because
//     that one is busy, starting or stopping.
//   - It fails at once if the other command loads, because that may run for ever.
func (a *app) openToLoad(ctx context.Context) (*session, error) {
	begun := time.Now()
	until, told := begun.Add(dyingFor), false
	const wait = 20 * time.Millisecond // short, so that it gets in between commands that only read
	var waiting announcement
	defer waiting.end()
	for {
		s, inUse := a.open(ctx, true)
		if inUse == nil || !errors.Is(inUse, store.ErrInUse) {
			return s, inUse
		}
		h, err := a.askHolder(ctx, true)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, control.ErrNobody), errors.Is(err, control.ErrCutOff), errors.Is(err, control.ErrBusy):
		case err != nil:
			return nil, fmt.Errorf("%w; could not ask its process to release it: %w", inUse, err)
		case h.Releases == releasesWhenDone:
			return nil, &heldError{a.cfg.Data, h, inUse}
		default:
			until = begun.Add(releaseFor)
			if !told {
				_, _ = fmt.Fprintf(a.stderr, "waiting for %s to release the data directory\n", h)
				told = true
			}
			failpoint("asked")
		}
		waiting.renew(a.cfg.Data)
		if time.Now().After(until) {
			return nil, notReleased(inUse, told, err)
		}
		if err := sleep.For(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// notReleased is the error of a loader that has waited long enough. asked is the last answer of the
// process that holds the directory.
func notReleased(inUse error, told bool, asked error) error {
	switch {
	case told:
		return fmt.Errorf("%w: it was not released within %v", inUse, releaseFor)
	case errors.Is(asked, control.ErrBusy):
		return fmt.Errorf("%w; could not ask its process within %v to release it: %w", inUse, dyingFor, asked)
	}
	return inUse
}

// failpoint is called at the steps of a handover. Tests kill or stop the process there.
var failpoint = func(string) {}
