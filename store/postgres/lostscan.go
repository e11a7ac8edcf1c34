package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/webindexer/indexer/internal/sleep"
)

// A scan may take long before it finds a row, so no timeout ends it. But its request or its answer
// may be lost without a sign: something between the program and the server drops packets and keeps
// the connection. The scan would wait for ever, and so would the worker that makes it, with its
// leases. So the client asks the server, on another connection, whether the session works.

// errScanLost ends an attempt whose session does nothing.
var errScanLost = errors.New("the request for a scan, or the answer, was lost on the way")

// idleLooks is how many times in a row a session must be found idle. At the first time, the end of
// the answer may still be under way.
const idleLooks = 2

// untilLost returns a context that ends with errScanLost when the session of a scan has nothing to
// do, and a function that ends the watch. It takes no longer than a call may take.
func (t *table) untilLost(ctx context.Context, session string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for idle := 0; idle < idleLooks; {
			if sleep.For(ctx, t.opts.CallTimeout/idleLooks) != nil {
				return
			}
			switch works, err := t.works(ctx, session); {
			case err != nil: // then it is unknown
			case works:
				idle = 0
			default:
				idle++
			}
		}
		cancel(errScanLost)
	})
	return ctx, func() {
		cancel(nil)
		watch.Wait()
	}
}

// works reports whether a session is at work.
func (t *table) works(ctx context.Context, session string) (works bool, err error) {
	_, err = t.attempt(ctx, t.calls, nil, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle')", session).Scan(&works)
	})
	return works, err
}
