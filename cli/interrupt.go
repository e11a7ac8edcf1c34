package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/store"
)

// errInterrupted is the cause of a context that ended because the user interrupted the
// program.
var errInterrupted = errors.New("interrupted")

// interruptedError says that an interrupt ended a command after it had saved its work, and
// what was left to do. A command with nothing left to do does not count as interrupted, so
// a shell may continue after && .
type interruptedError struct{ left string }

func (e *interruptedError) Error() string { return "interrupted; remaining work: " + e.left }

func (e *interruptedError) Unwrap() error { return errInterrupted }

// canceledError is the error of a command that an interrupt has ended. What the command was
// doing at that moment means nothing to its user.
type canceledError struct{ err error }

func (e canceledError) Error() string { return errInterrupted.Error() }

func (e canceledError) Unwrap() []error { return []error{errInterrupted, e.err} }

// withInterrupt adds errInterrupted to an error without an outcome of its own if the
// command was interrupted: some libraries do not return the cause of their context.
func withInterrupt(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errInterrupted) || errors.Is(err, errInterrupted) {
		return err
	}
	if _, elsewhere := errors.AsType[statusError](err); elsewhere {
		return err
	}
	if _, known := outcomeOf(err); known && !errors.Is(err, context.Canceled) {
		return err
	}
	if saysOnly(err, context.Canceled, store.ErrNotDone) { // the write in progress was not made
		return canceledError{err}
	}
	return fmt.Errorf("%w: %w", errInterrupted, err)
}

// saysOnly reports whether an error says nothing but targets: no other error is joined to them.
func saysOnly(err error, targets ...error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return saysOnly(e.Unwrap(), targets...)
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !saysOnly(part, targets...) })
	}
	return slices.Contains(targets, err)
}

// countAfterInterrupt bounds how long an interrupted run waits for a shared table or its
// oracle, to learn what is left. If one of them cannot be reached, that may be why the user
// interrupted the run.
const countAfterInterrupt = 5 * time.Second

// countContext returns a context for counting what a summary reports. The context of the run has
// ended after an interrupt.
func (s *session) countContext(interrupted bool) (context.Context, context.CancelFunc) {
	if interrupted && s.app.isShared() {
		return context.WithTimeout(context.Background(), countAfterInterrupt)
	}
	return context.Background(), func() {}
}

// incomplete is the error of a summary without what could not be counted.
func incomplete(err error) error {
	return fmt.Errorf("%w; the summary is not complete: %w", errInterrupted, err)
}

// left lists the work that a command has not done.
type left []string

func (l *left) add(n int, text string) {
	if n > 0 {
		*l = append(*l, text)
	}
}

// backlog adds the rows that wait for observers.
func (l *left) backlog(rows int) { l.add(rows, count(rows, "row")+" for observers") }

// err is nil if all work is done.
func (l left) err() error {
	if len(l) == 0 {
		return nil
	}
	return &interruptedError{left: strings.Join(l, ", ")}
}

// unread adds the files that a replay has not read completely: those from current on.
func (l *left) unread(inputs []*input, current int, read int64) {
	if current >= len(inputs) {
		return
	}
	size := sizeOf(inputs)
	switch n := len(inputs) - current; {
	case size >= 0:
		l.add(1, fmt.Sprintf("%s of %s to read, in %s", progress.Bytes(max(size-read, 0)), progress.Bytes(size), count(n, "file")))
	case n == 1:
		l.add(1, "the rest of "+inputs[current].name)
	default:
		l.add(1, fmt.Sprintf("the rest of %s, and %s", inputs[current].name, count(n-1, "more file")))
	}
}
