package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/webindexer/indexer/store"
)

// kind says what may be done about a call whose outcome is not known.
type kind int

const (
	reading kind = iota // simply repeat it
	// writing is idempotent. But the lost attempt may still be running on the server, and could
	// be applied after the repeated one, and even after a later call has undone what both did.
	// So the lost session is ended before the call is repeated.
	writing
	guarded // do not repeat it: after it was applied its guards would not hold
)

// retry runs a call on a connection. If the server cannot be reached, or refuses to work
// for now, it tries again until Options.RetryFor has passed, as far as the kind allows.
func (t *table) retry(ctx context.Context, k kind, pool *pgxpool.Pool, call func(context.Context, *pgx.Conn) error) error {
	return t.retryFor(ctx, t.opts.RetryFor, k, pool, call)
}

func (t *table) retryFor(ctx context.Context, limit time.Duration, k kind, pool *pgxpool.Pool, call func(context.Context, *pgx.Conn) error) error {
	var (
		lost  []string // sessions whose fate is not known
		began = time.Now()
		pause = 10 * time.Millisecond
	)
	for {
		session, err := t.attempt(ctx, pool, lost, call)
		if err == nil {
			return nil
		}
		certain := session == "" || nothingDone(err)
		switch {
		case k == guarded && !certain:
			return t.callError(err)
		case context.Cause(ctx) != nil:
			err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
			fallthrough
		case !passing(err), time.Since(began) > limit:
			return k.gaveUp(t.callError(err))
		case k == writing && !certain:
			lost = append(lost, session)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		case <-t.closing:
			return k.gaveUp(fmt.Errorf("%w while %s could not be reached: %w", store.ErrClosed, t.server, err))
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// gaveUp is the error of a call that is not tried again. A guarded one would not have been tried
// again after an attempt that may have done something.
func (k kind) gaveUp(err error) error {
	if k == guarded {
		return fmt.Errorf("%w: %w", store.ErrNotDone, err)
	}
	return err
}

// attempt makes one attempt, and returns the session in which the call began, if it did.
func (t *table) attempt(ctx context.Context, pool *pgxpool.Pool, lost []string, call func(context.Context, *pgx.Conn) error) (session string, err error) {
	if pool == t.calls { // the server's own limit comes first where the server can be reached
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.opts.CallTimeout*5/4)
		defer cancel()
	}
	c, err := pool.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer c.Release()
	if err := t.endSessions(ctx, c.Conn(), lost); err != nil {
		return "", err
	}
	name := c.Conn().Config().RuntimeParams["application_name"]
	if pool == t.scans {
		var end func()
		ctx, end = t.untilLost(ctx, name)
		defer end()
	}
	if err := call(ctx, c.Conn()); err != nil {
		if errors.Is(context.Cause(ctx), errScanLost) {
			err = fmt.Errorf("%w: %w", errScanLost, err)
		}
		switch {
		case c.Conn().IsClosed():
			// pgx would wait for the server's last words for 15 s, and the connection would
			// count as one of the pool's for that long.
			_ = c.Conn().PgConn().Conn().Close()
		case code(err) == "25006": // the server has become a standby: the next connection looks for another one
			_ = c.Conn().Close(ctx)
		}
		return name, err
	}
	return "", nil
}

// endSessions makes sure that what was begun in these sessions has been committed, or never
// will be. The list is materialized first: PostgreSQL evaluates the conditions of one WHERE in any
// order, and would end every session of the server.
func (t *table) endSessions(ctx context.Context, c *pgx.Conn, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var left int
	err := c.QueryRow(ctx, `WITH lost AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE application_name = ANY($1))
		SELECT count(*) FROM lost WHERE NOT pg_terminate_backend(pid, $2)`, names, max(1, t.opts.CallTimeout.Milliseconds()/2)).Scan(&left)
	if err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d sessions of earlier attempts do not end: %w", left, errStillRunning)
	}
	return nil
}

var errStillRunning = errors.New("they are still running on the server")

// code is the SQLSTATE of an error that the server sent, or "".
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// nothingDone reports whether the call certainly was not, and will not be, applied: the
// statement was not sent, or the server answered it with an error, which undoes all
// that it did. A FATAL error ends the session for another reason, possibly after the
// commit.
func nothingDone(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.SeverityUnlocalized == "ERROR"
	}
	return pgconn.SafeToRetry(err)
}

// passing reports whether the same call may succeed a little later: the connection
// broke, or the server is starting, short of something, or chose this call to end a deadlock.
func passing(err error) bool {
	c := code(err)
	switch {
	case c == "":
		return unreachable(err)
	case strings.HasPrefix(c, "08"), strings.HasPrefix(c, "40"), strings.HasPrefix(c, "57"):
		return true // connection, rollback, shutdown or cancel
	case c == "53200", c == "53300", c == "53400": // memory, connections, configured limits
		return true
	case c == "55P03", c == "25006", c == "25P02": // a lock, a standby, an aborted transaction
		return true
	}
	return false
}

// unreachable reports whether the network failed, or the server took too long.
func unreachable(err error) bool {
	_, network := errors.AsType[net.Error](err)
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	if network || connect || pgconn.SafeToRetry(err) {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded, errStillRunning, errScanLost},
		func(e error) bool { return errors.Is(err, e) })
}
