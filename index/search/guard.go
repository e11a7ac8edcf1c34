package search

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Guard returns a session in which a panic breaks a search, but not the process. Ask returns an
// error instead, and calls report with the panic and its stack.
//
// Either this version has a bug, or the question came from another version: package index relies on
// what package search asks.
func Guard(s Session, report func(error)) Session { return guarded{s, report} }

type guarded struct {
	Session
	report func(error)
}

// Ask implements Session.
func (g guarded) Ask(ctx context.Context, q *Question) (a *Answer, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			g.report(fmt.Errorf("panic: %v\n%s", broken, debug.Stack()))
			a, err = nil, fmt.Errorf("the process that keeps the shard panicked: %v (its log has the stack; if all processes have the same version, please report the bug, otherwise give all the same version)", broken)
		}
	}()
	return g.Session.Ask(ctx, q)
}
