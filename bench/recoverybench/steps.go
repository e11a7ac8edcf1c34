package recoverybench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// all is the run, in order.
func (r *run) all(ctx context.Context) error {
	if err := r.startAll(ctx); err != nil {
		return err
	}
	steps := []func(context.Context) error{r.undisturbed}
	for _, what := range r.Kill {
		switch what {
		case Workers:
			steps = append(steps, r.killWorkers, r.restartWorkers)
		case Oracle:
			steps = append(steps, r.killOracle)
		case Oracles:
			steps = append(steps, r.killOracles)
		default:
			return fmt.Errorf("nothing is called %q that could be killed", what)
		}
	}
	for _, step := range append(steps, r.drain, r.check) {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startAll starts all processes, and waits for the first rows.
func (r *run) startAll(ctx context.Context) error {
	for i := range r.oracles {
		if err := r.startOracle(ctx, i); err != nil {
			return err
		}
	}
	for i := range r.workers {
		if err := r.startWorkers(ctx, i, i+1); err != nil {
			return err
		}
	}
	var err error
	if r.feed, err = r.startLoader(); err != nil {
		return err
	}
	return pollUntil(ctx, func() bool { return r.line.total() > 0 || r.loader.hasEnded() })
}

func (r *run) undisturbed(ctx context.Context) error {
	r.line.begin()
	err := r.phase(ctx, "all workers", 0)
	if err == nil {
		r.res.Pause = longestPause(r.line.copied(), 0, r.line.since()).Seconds()
	}
	return err
}

// killWorkers kills a third of the workers. The first one is among them, which holds the
// leases, because it was there before all others.
func (r *run) killWorkers(ctx context.Context) error {
	from := r.mark(fmt.Sprintf("%d of %d workers killed", r.res.Killed, r.Workers))
	for _, w := range r.workers[:r.res.Killed] {
		w.kill()
	}
	return r.phase(ctx, "without those killed", from)
}

func (r *run) restartWorkers(ctx context.Context) error {
	from := r.mark("started again")
	if err := r.startWorkers(ctx, 0, r.res.Killed); err != nil {
		return err
	}
	return r.phase(ctx, "all workers again", from)
}

// killOracle kills the oracle that serves, and makes it the one that stands by.
func (r *run) killOracle(ctx context.Context) error {
	old, err := r.serving(ctx, -1)
	if err != nil {
		return err
	}
	from := r.mark("oracle killed")
	r.oracles[old].kill()
	if err := r.failover(ctx, "the other oracle", from, old); err != nil {
		return err
	}
	return r.startOracle(ctx, old)
}

// killOracles kills both oracles, and starts one of them again at once.
func (r *run) killOracles(ctx context.Context) error {
	from := r.mark("both oracles killed")
	for _, o := range r.oracles {
		o.kill()
	}
	if err := r.startOracle(ctx, 0); err != nil {
		return err
	}
	if err := r.failover(ctx, "an oracle started again", from, -1); err != nil {
		return err
	}
	return r.startOracle(ctx, 1)
}

// failover waits until an oracle other than old serves and work continues, and lets the
// rest of the phase pass.
func (r *run) failover(ctx context.Context, name string, from time.Duration, old int) error {
	if _, err := r.serving(ctx, old); err != nil {
		return err
	}
	f := Failover{What: name, Serving: (r.line.since() - from).Seconds()}
	done := r.line.total()
	if err := pollUntil(ctx, func() bool { return r.line.total() > done || r.loader.hasEnded() }); err != nil {
		return err
	}
	if err := r.phase(ctx, name, from); err != nil {
		return err
	}
	f.Pause = longestPause(r.line.copied(), from, from+failoverWithin).Seconds()
	r.res.Failovers = append(r.res.Failovers, f)
	return nil
}

// failoverWithin is how long after its kill a pause counts as caused by it.
const failoverWithin = 10 * time.Second

// phase lets a part of the run pass, in which there must be work all the time.
func (r *run) phase(ctx context.Context, name string, from time.Duration) error {
	over := func() bool { return r.line.since()-from >= r.Phase || r.feed.isDry() || r.loader.hasEnded() }
	if err := pollUntil(ctx, over); err != nil {
		return err
	}
	switch {
	case r.feed.isDry():
		return fmt.Errorf("all %d pages were loaded before the run was over: give more --pages, or a shorter --phase", r.Pages)
	case r.loader.hasEnded():
		return fmt.Errorf("the loader has ended too early: %w", errors.Join(r.loader.err, errors.New(r.loader.said())))
	}
	to := r.line.since()
	p := Phase{Name: name, From: from.Seconds(), To: to.Seconds(), Share: 1}
	p.Rows, p.Pages = rate(r.line.copied(), from, to)
	if len(r.res.Phases) > 0 {
		p.Share = p.Rows / max(r.res.Phases[0].Rows, 1/to.Seconds()) // at least one row, so that JSON has a number
	}
	r.res.Phases = append(r.res.Phases, p)
	fmt.Fprintln(r.Log, p.text())
	return nil
}

// mark notes that something is done now.
func (r *run) mark(what string) time.Duration {
	now := r.line.since()
	r.res.Marks = append(r.res.Marks, Mark{now.Seconds(), what})
	fmt.Fprintf(r.Log, "%6.1f s: %s\n", now.Seconds(), what)
	return now
}

// drain stops loading, and waits until all work is done. The measurement is over, so it
// removes the delay of the database.
func (r *run) drain(ctx context.Context) error {
	end := r.line.since()
	r.res.Intervals = intervals(r.line.copied(), r.Interval, end)
	fmt.Fprintf(r.Log, "%6.1f s: no more pages are loaded\n", end.Seconds())
	r.proxy.Delay(0)
	var err error
	r.res.Loaded, err = r.feed.end()
	// A loader that has failed is the reason for a feed that has.
	return errors.Join(r.loader.finish(ctx), err)
}
