package live

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// The bounds of a check. Anyone may request one, so only one runs at a time, and its
// result is reused for checkAge.
const (
	checkTime = 2 * time.Second
	checkAge  = 500 * time.Millisecond
)

// readiness answers whether a check passes.
type readiness struct {
	check func(context.Context) error
	log   *zap.Logger

	turn chan struct{} // held during a check; guards the fields below
	at   time.Time
	last error
}

func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.err(req.Context()) != nil {
		say(w, http.StatusServiceUnavailable, "the index cannot be searched")
		return
	}
	say(w, http.StatusOK, "ready")
}

func (r *readiness) err(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !r.at.IsZero() && time.Since(r.at) < checkAge {
		return r.last
	}
	// The client may disconnect, but others will use the result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	r.last = r.check(ctx)
	r.at = time.Now()
	if r.last != nil {
		r.log.Warn("not ready: the index cannot be searched", zap.Error(r.last))
	}
	return r.last
}
