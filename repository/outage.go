package repository

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

// outage logs that an index does not answer. Meanwhile every run of the observers that write to
// it fails, several a second. The log gets the first failure, later failures at intervals that
// double up to outageMost, and the first success.
type outage struct {
	log *zap.Logger

	mu       sync.Mutex
	since    time.Time // zero while the index answers
	next     time.Time // when to log the next failure
	interval time.Duration
}

const (
	outageLeast = 5 * time.Second
	outageMost  = 10 * time.Minute
)

// failed notes that the index did not answer.
func (o *outage) failed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() {
		o.since, o.next, o.interval = now, now, outageLeast
	}
	if now.Before(o.next) {
		return
	}
	o.log.Warn("cannot write to the index, will try again", zap.Duration("since", now.Sub(o.since)), zap.Error(err))
	o.next, o.interval = now.Add(o.interval), min(2*o.interval, outageMost)
}

// answered notes that the index answered.
func (o *outage) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.log.Warn("can write to the index again", zap.Duration("after", time.Since(o.since)))
		o.since = time.Time{}
	}
}
