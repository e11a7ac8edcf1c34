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

// Own is an oracle inside the process that uses it, for a remote table that only this
// process uses. It is fenced like any other: a second process is refused.
type Own struct {
	*Oracle
	member Member
}

// ErrOtherOracle means that another process serves the timestamps of the table.
var ErrOtherOracle = errors.New("oracle: another process serves the timestamps of this table")

// StartOwn serves this process alone. If a process before it has died, it waits until that
// counts as dead.
func StartOwn(ctx context.Context, table store.Table) (*Own, error) {
	member, err := Join(ctx, table)
	if err != nil {
		return nil, err
	}
	serving, failed := make(chan struct{}), make(chan error, 1)
	began := sync.OnceFunc(func() { close(serving) })
	joined := false
	o, err := Start(ctx, table, Options{
		Join: func(context.Context) (Member, error) {
			if joined {
				return nil, errors.New("another process has found this one dead and may have taken its place; start this one again")
			}
			joined = true
			return member, nil
		},
		Changed: func(on bool, _ uint64, _ error) {
			if on {
				began()
			}
		},
		Failed: func(err error) {
			select {
			case failed <- err:
			default:
			}
		},
	})
	if err != nil {
		return nil, errors.Join(err, member.Leave(ctx))
	}
	own := &Own{o, member}
	timeout := time.NewTimer(3 * TTL)
	defer timeout.Stop()
	select {
	case <-serving:
		return own, nil
	case err = <-failed:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timeout.C:
		h, rerr := ReadHolder(ctx, table)
		err = errors.Join(fmt.Errorf("%w: %s", ErrOtherOracle, h.advice()), rerr)
	}
	return nil, errors.Join(err, own.Stop(context.WithoutCancel(ctx)))
}

// advice says which process has the table, and how another one can use it. A Holder without
// anything is not known.
func (h Holder) advice() string {
	switch {
	case h.Token == "":
		return "which one, the table does not say yet; try again"
	case h.Address == "": // an Own
		return "process " + h.Token + " uses it alone; end that process"
	}
	return fmt.Sprintf("process %s at %s; name its address with --oracle, or end that process", h.Token, h.Address)
}

// Describe publishes what people want to know about this process.
func (o *Own) Describe(ctx context.Context, d Description) error { return o.member.Describe(ctx, d) }

// Coordination is what txn.Options takes.
func (o *Own) Coordination() *txn.Coordination {
	return &txn.Coordination{Timestamps: o, Liveness: o.member}
}
