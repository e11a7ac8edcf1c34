package scalebench

import (
	"sync"
	"time"
)

// crew collects what the workers report.
type crew struct {
	mu     sync.Mutex
	latest []Progress
	began  time.Time // when all had reported that something was done
}

func (c *crew) report(worker int, p Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest[worker] = p
	if !c.began.IsZero() {
		return
	}
	for _, p := range c.latest {
		if p.Done == 0 {
			return
		}
	}
	c.began = time.Now()
}

func (c *crew) allBegan() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began
}

func (c *crew) sum() (p Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.latest {
		p.Done += w.Done
		p.Calls = p.Calls.plus(w.Calls)
	}
	return p
}

// timeline is what all workers had done, at many moments.
type timeline struct {
	samples []sample
	kept    []sample // those that count
}

type sample struct {
	at time.Time
	Progress
	processor time.Duration
}

func (t *timeline) add(p Progress, processor time.Duration) {
	t.samples = append(t.samples, sample{time.Now(), p, processor})
	t.kept = t.samples
}

// total is what has been done.
func (t *timeline) total() float64 {
	if len(t.samples) == 0 {
		return 0
	}
	return t.samples[len(t.samples)-1].Done
}

// keepLast drops the samples before the last d.
func (t *timeline) keepLast(d time.Duration) {
	last := t.samples[len(t.samples)-1].at
	for len(t.kept) > 2 && last.Sub(t.kept[0].at) > d {
		t.kept = t.kept[1:]
	}
}

// The part of the work that counts. It excludes the start of the workers, and the end, when there
// is not enough work for all of them.
const (
	keepFrom = 0.1
	keepTo   = 0.9
)

// keepMiddle keeps the samples in which the middle of the work was done.
func (t *timeline) keepMiddle() {
	from, to := 0, len(t.samples)-1
	for from < to && t.samples[from].Done < keepFrom*t.total() {
		from++
	}
	for to > from+1 && t.samples[to].Done > keepTo*t.total() {
		to--
	}
	t.kept = t.samples[from : to+1]
}

// row is the throughput in the samples that are kept.
func (t *timeline) row(work string, workers int) Row {
	a, b := t.kept[0], t.kept[len(t.kept)-1]
	seconds, done := b.at.Sub(a.at).Seconds(), b.Done-a.Done
	calls := b.Calls.minus(a.Calls)
	return Row{
		Work: work, Workers: workers, PerSecond: done / seconds, Each: calls.per(max(done, 1)),
		CallMS: calls.Waited / max(calls.All(), 1), Cores: (b.processor - a.processor).Seconds() / seconds,
	}
}

// scale converts a count of rows into one of pages: a page has 1 / factor rows.
func (r *Row) scale(factor float64) {
	r.PerSecond *= factor
	r.Each = r.Each.per(factor)
}
