package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Member is this process as one of the deployment: *Tokens, or a member in package
// oracle/etcd.
type Member interface {
	txn.Liveness
	// Domain says where the tokens are. Members of different domains know nothing about
	// each other, so a candidate refuses to judge an oracle of another domain.
	Domain() string
	// Lost is closed when others have found this process dead, for ever.
	Lost() <-chan struct{}
	// Describe publishes what people want to know about this process. It replaces what
	// was published before.
	Describe(ctx context.Context, d Description) error
	// Leave ends the membership. Others know at once that this process is gone.
	Leave(ctx context.Context) error
}

// ErrOtherDomain means that the oracle that served last keeps its liveness token elsewhere, so
// this process cannot tell whether it is dead.
var ErrOtherDomain = errors.New("oracle: liveness tokens are kept in different places")

// pollEvery is how often a candidate checks whether the oracle is alive.
const pollEvery = TTL / 10

// Options of Start.
type Options struct {
	// Join makes this process a member. It is called again if the others have found it
	// dead, because it was stopped for a while.
	Join func(ctx context.Context) (Member, error)
	// Address is where clients reach this oracle; it is shown to people.
	Address string
	// Changed is called when this process begins to serve or stops, with the reason.
	Changed func(serving bool, term uint64, why error)
	// Failed is called with errors after which the candidate tries again.
	Failed func(error)
}

// Oracle is a process that serves timestamps, or stands by until the one that serves is
// dead. All candidates are equal; the first one takes over.
type Oracle struct {
	table  store.Table
	opts   Options
	locks  rowLocks
	swept  time.Time // when locks of dead processes were last looked for
	buried time.Time // when tokens of dead processes were last looked for

	mu      sync.Mutex
	member  Member
	current *term // nil while it stands by

	cancel context.CancelFunc
	work   sync.WaitGroup
}

// Start makes this process a candidate, until Stop.
func Start(ctx context.Context, table store.Table, opts Options) (*Oracle, error) {
	o := &Oracle{table: table, opts: opts}
	var err error
	if o.member, err = opts.Join(ctx); err != nil {
		return nil, err
	}
	ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	o.work.Go(func() { o.run(ctx) })
	return o, nil
}

// run stands by, serves, and stands by again.
func (o *Oracle) run(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := o.step(ctx); err != nil && ctx.Err() == nil && o.opts.Failed != nil {
			o.opts.Failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// step checks once whether to begin or to stop serving.
func (o *Oracle) step(ctx context.Context) error {
	member, t := o.state()
	if t != nil {
		why := t.ended()
		if why == nil && isLost(member) {
			why = ErrReplaced
		}
		if why != nil {
			o.stopServing(t, why)
		}
	}
	if isLost(member) {
		joined, err := o.opts.Join(ctx)
		if err != nil {
			return fmt.Errorf("oracle: join again: %w", err)
		}
		o.mu.Lock()
		o.member = joined
		o.mu.Unlock()
		return member.Leave(ctx)
	}
	if time.Since(o.swept) > lockSweep {
		o.swept = time.Now()
		o.locks.dropDead(ctx, member)
	}
	if _, t := o.state(); t != nil {
		t.notePace()
		if time.Since(o.buried) > tokenSweep {
			o.buried = time.Now()
			o.buryDead(ctx, member)
		}
		return nil
	}
	if member.Valid() != nil {
		return nil
	}
	return o.tryServe(ctx, member)
}

// tryServe takes over if no oracle serves.
func (o *Oracle) tryServe(ctx context.Context, member Member) error {
	h, err := ReadHolder(ctx, o.table)
	if err != nil {
		return err
	}
	if h.Token != "" && h.Domain != member.Domain() {
		return fmt.Errorf("%w: the last oracle, process %s at %q, kept its token in %s, and this process looks in %s; use the same for both, or shut that oracle down cleanly",
			ErrOtherDomain, h.Token, h.Address, h.Domain, member.Domain())
	}
	if h.Token != "" && h.Token != member.Token() {
		if alive, err := member.Alive(ctx, h.Token); err != nil || alive {
			return err
		}
	}
	if h.Token != member.Token() { // otherwise an earlier attempt failed after it had won
		won := false
		if h, won, err = claim(ctx, o.table, h, Holder{Token: member.Token(), Address: o.opts.Address, Domain: member.Domain()}); err != nil || !won {
			return err
		}
	}
	t, err := beginTerm(ctx, o.table, member, h.term)
	if err != nil {
		return err
	}
	o.locks.reset() // they were in the memory of another process, and in ours they are old
	o.mu.Lock()
	o.current = t
	o.mu.Unlock()
	if o.opts.Changed != nil {
		o.opts.Changed(true, t.number, nil)
	}
	return nil
}

func (o *Oracle) stopServing(t *term, why error) {
	o.mu.Lock()
	o.current = nil
	o.mu.Unlock()
	t.end(why)
	if o.opts.Changed != nil {
		o.opts.Changed(false, t.number, why)
	}
}

func (o *Oracle) state() (Member, *term) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.member, o.current
}

func isLost(m Member) bool {
	select {
	case <-m.Lost():
		return true
	default:
		return false
	}
}

// Stop hands over at once: it ends the term in the table, so that a standby need not wait
// until this process counts as dead.
func (o *Oracle) Stop(ctx context.Context) error {
	o.cancel()
	o.work.Wait()
	member, t := o.state()
	var err error
	if t != nil {
		o.stopServing(t, ErrNotServing)
		_, _, err = claim(ctx, o.table, Holder{term: t.number}, Holder{})
	}
	return errors.Join(err, member.Leave(ctx))
}

var errStandsBy = fmt.Errorf("%w: it stands by; the setting oracle must name all oracles, including the one that serves", ErrNotServing)

// Take takes n consecutive timestamps and returns the first; with n = 0 it takes none, and
// returns what the first would be. ErrNotServing: another process is the oracle.
func (o *Oracle) Take(ctx context.Context, n uint64) (first uint64, err error) {
	_, t := o.state()
	if t == nil {
		return 0, errStandsBy
	}
	return t.take(ctx, n)
}

// Token is the liveness token of this process, which the table names while it serves.
func (o *Oracle) Token() string {
	member, _ := o.state()
	return member.Token()
}

// Next implements txn.Timestamps, for users in the same process.
func (o *Oracle) Next(ctx context.Context) (uint64, error) { return o.Take(ctx, 1) }

// Last implements txn.Timestamps.
func (o *Oracle) Last(ctx context.Context) (uint64, error) {
	next, err := o.Take(ctx, 0)
	return next - 1, err
}

// TryLock tries to lock rows for the process with a token.
func (o *Oracle) TryLock(_ context.Context, token string, rows []string) ([]bool, error) {
	if _, t := o.state(); t == nil {
		return nil, errStandsBy
	}
	return o.locks.try(token, rows, time.Now()), nil
}

// Unlock releases rows that a process has locked.
func (o *Oracle) Unlock(_ context.Context, token string, rows []string) error {
	o.locks.release(token, rows)
	return nil
}

// Status tells how an oracle is doing.
type Status struct {
	Serving   bool
	Term      uint64
	Last      uint64
	Ceiling   uint64
	HandedOut uint64
	Requests  uint64
	Locks     int
	Since     time.Time
	Domain    string
	// PerSecond is how many timestamps were handed out per second in the last ten seconds.
	PerSecond float64
}

// Age returns how long ago a timestamp was handed out. If that was before this term, it is
// the age of the term. It is 0 if this process does not serve.
func (o *Oracle) Age(ts uint64) time.Duration {
	_, t := o.state()
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pace.age(time.Now(), ts)
}

// Status returns the status of this process.
func (o *Oracle) Status() Status {
	member, t := o.state()
	if t == nil {
		return Status{Domain: member.Domain()}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return Status{
		PerSecond: t.pace.perSecond(time.Now(), t.next),
		Serving:   t.over == nil && t.lives.Valid() == nil, Term: t.number, Last: t.next - 1, Ceiling: t.ceiling,
		HandedOut: t.handedOut.Load(), Requests: t.requests.Load(), Locks: o.locks.count(), Since: t.began,
		Domain: member.Domain(),
	}
}
