package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/web"
)

// standby keeps a server running, whichever process holds the data directory.
//
//	           askToRelease                       a holder answers
//	holding ───────────────▶ releasing ─▶ nobody ─────────────────▶ beside
//	   ▲                                    │ no holder came          │ no holder answers
//	   └──────────── taking over ◀──────────┴─────────────────────────┘
//
// One goroutine, run, makes all of these moves, so they never overlap. Only place.go
// connects them with requests: the current place answers each request, and the next place
// repeats a request that was in progress when its place ended.
//
// Invariants:
//
//  1. Only the lock of the store decides which process holds the directory. A release is
//     not a transfer: between the release and the lock of the next holder, any process
//     may come first, and one that comes second asks again.
//  2. After a release, the server stays away from the directory until another command that
//     keeps it has answered, the command that asked is gone, or claimTime has passed. So
//     the server does not overtake that command, and comes back if the command died
//     meanwhile.
//  3. The repository is closed only after the last request has left it, and a session
//     that is being closed answers no other process. Requests of other processes that
//     were not answered end with statusAskAgain, and are sent to the next holder.
//  4. A server that crawls does not release, because the crawl would have to end.
//  5. If the observers stop by themselves, because the disk is full, say, the server releases the
//     directory as well, and opens it again after troubleTime, or after a command that loads has
//     had it. So the other commands can do the work as soon as there is room.
//  6. A server that starts on a full disk or a read-only file system searches the index files, and
//     opens the directory when it can write.
//
// Rejected: the client keeps its connection until it has the lock, as proof that it is
// alive. The socket belongs to the holder and disappears with it, so the proof would need a
// second socket; waiting for claimTime costs less. Also rejected: to wait in flock(2) for
// the end of the other process. That wait cannot be cancelled when the server ends, and
// would overtake the commands that wait for the same lock.
type standby struct {
	app    *app
	ctx    context.Context // of the server; requests in progress may outlive it
	crawls atomic.Bool     // the crawl of this server is running

	asked chan releaseRequest // the command that needs the directory
	wake  chan struct{}       // a request found that the holder is gone

	mu      sync.Mutex
	place   *place        // the current one; nil during a handover
	changed chan struct{} // closed and replaced when place changes
	holder  string        // the process that has the directory, if it answers
	trouble error         // why the directory cannot be opened although it is free

	session *session // the repository, if this process holds it; belongs to run
}

// Intervals and limits of a standby.
const (
	watchEvery  = time.Second            // between two questions to the holder
	wakeEvery   = 50 * time.Millisecond  // minimum interval when requests find it gone
	claimTime   = 3 * time.Second        // time for the command that asked to take the directory
	claimLeast  = time.Second / 2        // of that, for a process that cannot be seen; it tries five times a second
	claimEvery  = 100 * time.Millisecond // between two checks whether it has taken it
	soonEvery   = 50 * time.Millisecond  // between two attempts while a command that only reads holds the directory
	troubleTime = 30 * time.Second       // maximum interval between failed attempts
	drainTime   = time.Second            // for requests in progress, before they are asked again
)

// newStandby returns the standby of a server; begin gives it its first place.
func newStandby(ctx context.Context, a *app) *standby {
	return &standby{app: a, ctx: ctx, asked: make(chan releaseRequest, 1), wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// begin takes over the first session of the server, nil if another process holds the
// directory.
func (st *standby) begin(s *session) {
	st.session = s
	if s != nil {
		st.move(s.place(), 0)
		return
	}
	st.move(st.beside(), 0)
}

// openIndex opens the index for the server. A process that holds a new directory may not have made
// the index files yet.
func (st *standby) openIndex(ctx context.Context) (files searcher, err error) {
	for begun := time.Now(); ; {
		files, err = st.app.openServing(ctx)
		if st.session != nil || !errors.Is(err, errNoIndexFiles) || time.Since(begun) >= claimTime {
			return files, err
		}
		if err := sleep.For(ctx, soonEvery); err != nil {
			return nil, err
		}
	}
}

// askToRelease lets run release the directory. It does not wait for that.
func (st *standby) askToRelease(by releaseRequest) {
	select {
	case st.asked <- by:
	default: // run has an unhandled request already
	}
}

// run moves the server from holding to beside and back until ctx ends. close closes the
// remaining session.
func (st *standby) run(ctx context.Context) {
	var since time.Time
	var by releaseRequest
	var rest time.Duration // after a failure
	ticker := time.NewTicker(failureEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if st.session == nil {
			st.takeOver(ctx, func() bool {
				passed := time.Since(since)
				return passed < max(claimLeast, rest) || passed < claimTime && !by.isGone()
			})
			continue
		}
		select {
		case by = <-st.asked:
			st.say("`%s` asked for the data directory; this server keeps searching the index files", by.For)
			st.release(ctx)
			since, rest = time.Now(), 0
		case <-ticker.C:
			switch err := st.session.repo.Failure(); {
			case err == nil, st.crawls.Load():
			case st.session.isDivided():
				st.rejoin(ctx)
			default:
				st.say("the observers have stopped: %v; this server keeps searching the index files, and tries again in %v", err, troubleTime)
				st.release(ctx)
				since, rest = time.Now(), troubleTime
			}
		case <-ctx.Done():
		}
	}
}

// close closes the repository if this process has it open. It is called after run.
func (st *standby) close(ctx context.Context) error {
	st.move(nil, 0)
	if st.session == nil {
		return nil
	}
	return st.session.close(ctx)
}

// release releases the directory. A crash during a release is like any other crash:
// acknowledged writes are in the log of the store.
func (st *standby) release(ctx context.Context) {
	failpoint("releasing")
	st.session.leaving.Store(true)
	bounded, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	err := st.session.stopAnswering(bounded) // first, because it may take long and pages still get details meanwhile
	st.move(nil, drainTime)
	if err = errors.Join(err, st.session.close(ctx)); err != nil {
		st.say("closing the data directory: %v", err) // the next process that opens it recovers the data
	}
	st.session = nil
	failpoint("released")
	st.move(st.beside(), 0)
}

// takeOver waits until no process holds the directory and opens it, or returns when ctx
// ends. As long as the directory is claimed and no other command that keeps it has
// answered, takeOver leaves it to the command that asked.
//
// Commands that only read hold the directory for a moment each. A script that runs them in
// a loop would leave the server the gaps between them, which a question once a second
// rarely hits. So the server waits like a command that loads: those commands let it go
// first (loaderwaiting.go).
func (st *standby) takeOver(ctx context.Context, claimed func() bool) {
	trouble, answered := time.Duration(0), false
	var waiting announcement
	defer func() { waiting.end() }()
	for wait := time.Duration(0); ; {
		if !st.rest(ctx, wait, trouble == 0) {
			return
		}
		wait = watchEvery
		h, err := st.app.askHolder(ctx, false)
		switch {
		case err == nil:
			st.note(fmt.Sprintf("%s (process %d)", h.Command, h.Process), nil)
			if h.Releases != releasesSoon {
				answered = true
				waiting.end() // it may take hours, and other commands do not wait for it
			} else if wait = soonEvery; answered || !claimed() {
				waiting.renew(st.app.cfg.Data)
			}
			continue
		case !errors.Is(err, control.ErrNobody) && !errors.Is(err, control.ErrCutOff):
			continue // it is alive, but stopped or busy
		case !answered && claimed():
			wait = claimEvery
			continue
		}
		select {
		case <-st.asked: // from an earlier session
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
		case errors.Is(err, store.ErrInUse): // the holder is starting or stopping
			wait = claimEvery
			continue
		}
		waiting.end() // other commands need not wait for a server that cannot open it
		if st.note("", err) {
			st.say("the data directory is free, but cannot be opened: %v", err)
		}
		trouble = min(max(2*trouble, watchEvery), troubleTime)
		wait = trouble
	}
}

// rest waits. If wakeful is set, it returns early when a request finds that the holder is
// gone. It returns false when ctx ends.
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
		_ = sleep.For(ctx, wakeEvery) // ctx is checked below
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// nudge makes run check whether the holder is gone.
func (st *standby) nudge() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// note records which process has the directory, or why none has. It reports whether the
// trouble is new.
func (st *standby) note(holder string, trouble error) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	isNew := trouble != nil && (st.trouble == nil || st.trouble.Error() != trouble.Error())
	st.holder, st.trouble = holder, trouble
	return isNew
}

// notes returns what every page says about the holder of the directory.
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

// isElsewhere reports whether other processes run the observers: one holds the directory, or
// workers share the store.
func (st *standby) isElsewhere() bool {
	if st.app.isShared() && st.app.cfg.Oracle != "" {
		return true
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.place == nil || st.place.elsewhere
}

func (st *standby) say(format string, args ...any) {
	_, _ = fmt.Fprintf(st.app.stderr, format+"\n", args...)
}

// errBetween says that no process holds the data directory at the moment.
var errBetween = fmt.Errorf("%w: it is being handed over", web.ErrElsewhere)
