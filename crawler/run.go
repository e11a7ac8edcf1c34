package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Run crawls until nothing is due, a limit is reached, or ctx ends; with Options.Follow
// it continues when nothing is due. Call it once.
//
// When ctx ends, Run starts no new requests, completes and loads those under way,
// stores the state of hosts, and returns nil. Abort cuts this short. A store
// operation that fails ends the crawl in the same orderly way, and Run returns its
// error. Status().Ended says why Run returned.
func (c *Crawler) Run(ctx context.Context) error {
	c.begin(ctx)
	defer c.abort()
	defer c.fullSpeed.stop()
	stop := ctx.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		c.poll()
		wait, over := c.step(time.Now())
		if over {
			break
		}
		c.watchSpeed(time.Now())
		timer.Reset(c.fullSpeed.wait(wait))
		select {
		case apply := <-c.results:
			c.apply(apply)
		case <-c.news:
		case <-timer.C:
		case <-stop:
			stop = nil
			c.mu.Lock()
			c.stop(EndedByContext)
			c.mu.Unlock()
		}
	}
	c.workers.Wait()
	return c.end()
}

func (c *Crawler) begin(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work, c.abort = context.WithCancel(context.WithoutCancel(ctx))
	c.asked = ctx
	if errors.Is(c.err, ErrAborted) {
		c.abort()
	}
	c.started = time.Now()
}

// poll asks, once a second, whether the crawl has to pause.
func (c *Crawler) poll() {
	now := time.Now()
	if c.opts.Paused == nil || now.Sub(c.polledAt) < pollInterval {
		return
	}
	why := c.opts.Paused() // foreign code: do not hold mu
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused, c.polledAt = why, now
}

const pollInterval = time.Second

// step starts everything that can start, and returns how long nothing more will, or
// that the crawl is over.
func (c *Crawler) step(now time.Time) (wait time.Duration, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checkLimits(now)
	if c.stopping != "" {
		return forever, c.running == 0
	}
	c.depart(now)
	for again := true; again; again = c.freed {
		c.freed = false
		c.enlist(now)
		c.dispatch(now) // may free places
	}
	c.pruneSlots(now)
	switch {
	case c.stopping != "":
	case c.shared != nil:
		c.settle(now)
	case c.running == 0 && c.paused == "" && !c.opts.Follow && !c.pending(now):
		c.quiesce()
	}
	if c.stopping != "" {
		return forever, c.running == 0
	}
	return c.untilNext(now), false
}

// forever is longer than any crawl takes.
const forever = 365 * 24 * time.Hour

// quiesce ends the crawl when it is certain that no new URLs will follow.
//
// It gives up when a request starts (send). Otherwise a call that begins while the links of
// the seed are being found would last for the whole crawl, and as long as a caller waits for
// the pipeline to empty, observers that gather pages run whenever they can: rank ran on some
// fifty small parts of a crawl of 3,000 pages instead of twice, and took half of its
// processor time.
func (c *Crawler) quiesce() {
	if c.opts.Quiesce == nil || c.quiescent {
		c.stop(EndedIdle)
		return
	}
	c.quiescent = true // until the next event
	c.quiescing = true
	var quiesceCtx context.Context
	quiesceCtx, c.cancelQuiesce = context.WithCancel(c.work)
	c.start(func(ctx context.Context) func() error {
		err := c.opts.Quiesce(quiesceCtx)
		return func() error {
			canceled := quiesceCtx.Err() != nil && ctx.Err() == nil
			c.cancelQuiesce()
			c.quiescing = false
			if err != nil && !canceled {
				c.quiescent = false // a crawl that pauses calls it again
				return fmt.Errorf("crawler: wait until new URLs are found: %w", err)
			}
			return nil
		}
	})
}

// start runs do in a goroutine of its own, and the function that do returns in the
// scheduler's.
func (c *Crawler) start(do func(ctx context.Context) func() error) {
	c.running++
	ctx := c.work
	c.workers.Go(func() { c.results <- do(ctx) })
}

// apply applies the result of a finished goroutine, and of all that finished meanwhile.
func (c *Crawler) apply(result func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		c.running--
		if err := result(); err != nil {
			c.failed(err)
		}
		select {
		case result = <-c.results:
		default:
			return
		}
	}
}

// failed handles a failed operation. If the crawl has to pause, the failure most likely
// has the same cause, and nothing is lost: what was not committed stays due.
func (c *Crawler) failed(err error) {
	if c.opts.Paused == nil || c.work.Err() != nil {
		c.fail(err)
		return
	}
	c.mu.Unlock()
	why := c.opts.Paused()
	c.mu.Lock()
	if why == "" {
		c.fail(err)
		return
	}
	c.paused, c.polledAt = why, time.Now()
	c.meter.interrupted++
	c.opts.Log.Warn("a store operation failed and the crawl pauses; its URLs stay due: " + why + ": " + err.Error())
}

// end stores the state of the hosts in memory, unless the crawl was aborted. It returns the error
// that ended the crawl.
func (c *Crawler) end() error {
	c.mu.Lock()
	c.meter.ended = time.Now()
	var hosts []*host
	for _, h := range c.hosts {
		if h.loaded && h.dirty {
			hosts = append(hosts, h)
		}
	}
	ctx, ended := c.work, c.err
	c.mu.Unlock()
	if ctx.Err() != nil {
		return ended
	}
	err := c.storeAll(ctx, hosts)
	if ended != nil {
		if err != nil {
			c.opts.Log.Warn(err.Error()) // most likely for the same reason
		}
		return ended
	}
	return err
}

func (c *Crawler) storeAll(ctx context.Context, hosts []*host) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.opts.Concurrency)
	for _, h := range hosts {
		g.Go(func() error { return c.store(ctx, h) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("crawler: store the state of hosts: %w", err)
	}
	return nil
}
