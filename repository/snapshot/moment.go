// Package snapshot reads a repository as of one moment: now, a commit timestamp, or a time
// of day. It takes little memory, however large the repository or a cluster is.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/txn"
)

// Moment names a state of the repository: the state at a commit timestamp, or at a time
// of day. The zero value means now.
type Moment struct {
	TS   uint64    `json:"ts,omitempty"`
	Time time.Time `json:"time,omitzero"`
}

// AtTime returns the moment of a time. The first nanosecond of the calendar is the zero value, which
// means now, so it becomes the second nanosecond.
func AtTime(t time.Time) Moment {
	if t.IsZero() {
		t = t.Add(1)
	}
	return Moment{Time: t.UTC()}
}

// IsNow reports whether the moment is the zero value.
func (m Moment) IsNow() bool { return m.TS == 0 && m.Time.IsZero() }

// String returns the moment as messages show it.
func (m Moment) String() string {
	switch {
	case m.TS != 0:
		return fmt.Sprintf("timestamp %d", m.TS)
	case m.IsNow():
		return "now"
	}
	return m.Time.UTC().Format(time.RFC3339)
}

// ErrFuture means that the requested moment has not come yet.
var ErrFuture = errors.New("the future has no state yet")

// NotKeptError means that the state of a moment can no longer be read. It matches
// txn.ErrBelowSafePoint.
type NotKeptError struct {
	Asked    Moment
	OldestTS uint64    // the oldest timestamp that can be read
	Oldest   time.Time // the oldest time that can be read; zero without a history
}

// Error names the oldest state that can be read, and the setting that decides it.
func (e *NotKeptError) Error() string {
	if e.Oldest.IsZero() {
		return fmt.Sprintf("the state of %s is not kept, because there is no history of times; the setting history (for example history: 24h) starts one. Timestamps from %d on are readable", e.Asked, e.OldestTS)
	}
	oldest := e.Oldest.Add(time.Millisecond - 1).UTC().Format(momentForm) // round up, so that the named time can be read
	if e.OldestTS == 0 {                                                  // nothing has been collected yet
		return fmt.Sprintf("the state of %s is not kept: the earliest known time is %s", e.Asked, oldest)
	}
	return fmt.Sprintf("the state of %s is not kept: the oldest that can be read is from %s, timestamp %d", e.Asked, oldest, e.OldestTS)
}

// momentForm is RFC 3339 with milliseconds.
const momentForm = "2006-01-02T15:04:05.000Z07:00"

// Unwrap lets errors.Is match txn.ErrBelowSafePoint.
func (e *NotKeptError) Unwrap() error { return txn.ErrBelowSafePoint }

// Past returns a transaction that reads at a moment. For a time of day, that is the first
// timestamp known to belong to it or to a later time. Garbage collection keeps the state
// until the transaction is rolled back. Errors: a *NotKeptError, ErrFuture, errors of the
// store.
func Past(ctx context.Context, db *txn.DB, m Moment) (*txn.Txn, error) {
	release := db.Hold() // keeps the timestamp readable until At has pinned it
	defer release()
	ts, err := timestampOf(ctx, db, m, time.Now())
	if err != nil {
		return nil, err
	}
	tx, err := At(ctx, db, ts)
	if errors.Is(err, txn.ErrBelowSafePoint) {
		return nil, notKept(ctx, db, m)
	}
	return tx, err
}

// Now returns a transaction that reads the current state, as Past does.
func Now(ctx context.Context, db *txn.DB) (*txn.Txn, error) { return Past(ctx, db, Moment{}) }

func timestampOf(ctx context.Context, db *txn.DB, m Moment, now time.Time) (uint64, error) {
	last, err := db.Now(ctx)
	switch {
	case err != nil:
		return 0, err
	case m.IsNow():
		return last, nil
	case m.TS > last:
		return 0, fmt.Errorf("timestamp %d: %w: the newest is %d", m.TS, ErrFuture, last)
	case m.TS != 0:
		return m.TS, nil
	case m.Time.After(now):
		return 0, fmt.Errorf("%s: %w: it is %s", m, ErrFuture, now.UTC().Format(time.RFC3339))
	}
	ts, err := db.TimestampAt(ctx, m.Time)
	if err == nil && ts == 0 {
		err = notKept(ctx, db, m)
	}
	return ts, err
}

func notKept(ctx context.Context, db *txn.DB, m Moment) error {
	ts, at, err := db.Oldest(ctx)
	if err != nil {
		return err
	}
	return &NotKeptError{Asked: m, OldestTS: ts, Oldest: at}
}
