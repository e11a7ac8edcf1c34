package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"indexer/control"
	"indexer/store"
	"indexer/web"
)

// standby keeps a server going, whichever process holds the data directory.
//
//	           askToRelease                       somebody answers
//	holding ───────────────▶ releasing ─▶ nobody ─────────────────▶ beside
//	   ▲                                    │ nobody came             │ nobody answers
//	   └──────────── taking over ◀──────────┴─────────────────────────┘
//
// One goroutine, run, makes all of these moves, so two never overlap. Requests meet
// them only in place.go: each is answered by the place that is in force, and one that
// was under way when its place went away is asked again of the next.
//
// Invariants:
//
//  1. The lock of the store decides who holds the directory, and nothing else does. A
//     release is a promise to let go, not a transfer: between it and the lock of the
//     next holder anybody may come first, and whoever comes second asks again.
//  2. A server that has released the directory stays away from it until somebody else
//     has answered for it, the command that asked is gone, or claimTime has passed. So
//     that command is not overtaken by the server, and if it died meanwhile the server
//     comes back.
//  3. The repository is closed only after the last request has left it, and a session
//     answers no other process once it is being closed. What other processes asked and
//     was not answered ends with statusAskAgain: they ask the next holder.
//  4. A server that crawls does not release: the crawl would have to end for it.
//
// Rejected: the asker keeps its connection until it has the lock, as proof that it
// lives. The socket belongs to the holder and goes with it, so the proof would need a
// second one; waiting for claimTime costs less. Rejected as well: to wait in flock(2)
// for the end of the other process. That cannot be given up when the server ends, and
// would overtake the commands that are waiting for the same lock.
type standby struct {
	app    *app
	ctx    context.Context // of the server; requests under way may outlive it
	crawls atomic.Bool     // the crawl of this server is running

	asked chan releaseRequest // the command that needs the directory
	wake  chan struct{}       // somebody found that the holder is gone

	mu      sync.Mutex
	place   *place        // in force; nil while the directory changes hands
	changed chan struct{} // closed and replaced when place is
	holder  string        // who has the directory, if another process answers
	trouble error         // why the directory, which is free, cannot be opened

	session *session // the repository, if this process holds it; belongs to run
}

// The times of a standby.
const (
	watchEvery  = time.Second            // from one question to the holder to the next
	wakeEvery   = 50 * time.Millisecond  // but at most so often, whoever finds it gone
	claimTime   = 3 * time.Second        // for the command that asked to take the directory
	claimLeast  = time.Second / 2        // of that, for one that cannot be seen; it tries five times a second
	claimEvery  = 100 * time.Millisecond // from one look whether it has to the next
	troubleTime = 30 * time.Second       // at most, between attempts that fail
	drainTime   = time.Second            // for requests under way before they have to be asked again
)

// newStandby makes one of a server; begin gives it its first place.
func newStandby(ctx context.Context, a *app) *standby {
	return &standby{app: a, ctx: ctx, asked: make(chan releaseRequest, 1), wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// begin takes over the session that the server begins with; nil if another process
// holds the directory.
func (st *standby) begin(s *session) {
	st.session = s
	if s != nil {
		st.move(s.place(), 0)
		return
	}
	st.move(st.beside(), 0)
}

// askToRelease lets run release the directory. It does not wait for that.
func (st *standby) askToRelease(by releaseRequest) {
	select {
	case st.asked <- by:
	default: // it has been asked, and not begun yet
	}
}

// run moves the server from holding to beside and back until ctx ends. The session that
// is left is for close.
func (st *standby) run(ctx context.Context) {
	var since time.Time
	var by releaseRequest
	for ctx.Err() == nil {
		if st.session == nil {
			st.takeOver(ctx, func() bool {
				passed := time.Since(since)
				return passed < claimLeast || passed < claimTime && !by.isGone()
			})
			continue
		}
		select {
		case by = <-st.asked:
			st.release(ctx, by.For)
			since = time.Now()
		case <-ctx.Done():
		}
	}
}

// close closes the repository if it is open here. run has ended.
func (st *standby) close(ctx context.Context) error {
	st.move(nil, 0)
	if st.session == nil {
		return nil
	}
	return st.session.close(ctx)
}

// release gives the directory back. A crash in the middle of it is one like any other:
// what was acknowledged is in the log of the store.
func (st *standby) release(ctx context.Context, by string) {
	st.say("`%s` asked for the data directory; this server keeps searching the index files", by)
	failpoint("releasing")
	st.session.leaving.Store(true)
	bounded, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	err := st.session.stopAnswering(bounded) // first, as it may take its time; pages get details meanwhile
	st.move(nil, drainTime)
	if err = errors.Join(err, st.session.close(ctx)); err != nil {
		st.say("closing the data directory: %v", err) // whoever opens it next recovers what there is
	}
	st.session = nil
	failpoint("released")
	st.move(st.beside(), 0)
}

// takeOver waits until nobody holds the directory and opens it, or ends with ctx. While
// it is claimed and nobody has answered for it, it is left to the command that asked.
func (st *standby) takeOver(ctx context.Context, claimed func() bool) {
	trouble, answered := time.Duration(0), false
	for wait := time.Duration(0); ; {
		if !st.rest(ctx, wait, trouble == 0) {
			return
		}
		wait = watchEvery
		h, err := st.app.askHolder(ctx, false)
		switch {
		case err == nil:
			answered = true
			st.note(fmt.Sprintf("%s (process %d)", h.Command, h.Process), nil)
			continue
		case !errors.Is(err, control.ErrNobody) && !errors.Is(err, control.ErrCutOff):
			continue // it lives: it is stopped, or has too much to answer
		case !answered && claimed():
			wait = claimEvery
			continue
		}
		select {
		case <-st.asked: // of an earlier holding
		default:
		}
		s, err := st.app.open(ctx, false)
		switch {
		case err == nil:
			st.session = s
			failpoint("taken")
			st.note("", nil)
			st.move(s.place(), 0)
			st.say("no other process has the data directory any more; this server has taken it back")
			return
		case ctx.Err() != nil:
			return
		case errors.Is(err, store.ErrInUse): // it is beginning or ending
			wait = claimEvery
			continue
		}
		if st.note("", err) {
			st.say("the data directory is free, but cannot be opened: %v", err)
		}
		trouble = min(max(2*trouble, watchEvery), troubleTime)
		wait = trouble
	}
}

// rest waits, or less if somebody finds that the holder is gone and wakeful is set. It
// returns false when ctx ends.
func (st *standby) rest(ctx context.Context, wait time.Duration, wakeful bool) bool {
	wake := st.wake
	if !wakeful {
		wake = nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
		select {
		case <-time.After(wakeEvery):
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// nudge has run look whether the holder is gone.
func (st *standby) nudge() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// note remembers who has the directory, or why nobody has. It reports whether the
// trouble is a new one.
func (st *standby) note(holder string, trouble error) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	isNew := trouble != nil && (st.trouble == nil || st.trouble.Error() != trouble.Error())
	st.holder, st.trouble = holder, trouble
	return isNew
}

// notes are what every page says of who has the directory.
func (st *standby) notes() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.place == nil:
		return []string{"The data directory is being handed over to another process. Searches use the index files."}
	case !st.place.elsewhere:
		return nil
	case st.trouble != nil:
		return []string{"The data directory cannot be opened; the log of the server says why. Searches use the index files, without details."}
	case st.holder == "":
		return []string{"Another process has the data directory. Searches use the index files, and that process is asked for details."}
	}
	return []string{"Another process has the data directory: " + st.holder + ". Searches use the index files, and that process is asked for details."}
}

// isElsewhere reports whether this process does not hold the directory.
func (st *standby) isElsewhere() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.place == nil || st.place.elsewhere
}

func (st *standby) say(format string, args ...any) {
	_, _ = fmt.Fprintf(st.app.stderr, format+"\n", args...)
}

// errBetween: no process holds the data directory just now.
var errBetween = fmt.Errorf("%w: it is being handed over", web.ErrElsewhere)
