package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"indexer/control"
	"indexer/store"
)

// dyingFor bounds how long a command waits for a data directory whose holder does not
// answer: a process that was killed has its lock until the kernel is done with it,
// which takes a moment if it had much memory.
const dyingFor = 2 * time.Second

// openToLoad opens the data directory, which it makes if there is none. If another
// process has it and answers, that is an error at once; if nobody answers, the holder
// may be ending, and the directory free in a moment.
func (a *app) openToLoad(ctx context.Context) (*session, error) {
	tries := time.NewTimer(dyingFor)
	defer tries.Stop()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		s, err := a.open(ctx, true)
		if err == nil || !errors.Is(err, store.ErrInUse) || a.isAnswered(ctx) {
			return s, err
		}
		select {
		case <-time.After(wait):
		case <-tries.C:
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// isAnswered reports whether the holder of the data directory answers at all. It is
// asked something that nobody knows.
func (a *app) isAnswered(ctx context.Context) bool {
	_, err := control.Ask(ctx, a.cfg.Data, control.Request{Command: "anybody"}, io.Discard, io.Discard)
	return !errors.Is(err, control.ErrNobody)
}
