package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The tasks that the holders of leases do for other processes.
const (
	taskReindex = "reindex"
	taskSolve   = "solve ranks"
)

// byHolder decides which process does a task that only the holder of a lease may do. It
// returns mine if this process must do it: it holds the lease, or has just taken it because
// it was free, or is the only process of the table. Otherwise the holder has done the task,
// and into has its result.
//
// A process that runs observers takes no lease here, because its settings say which leases
// to hold.
func (r *Repository) byHolder(ctx context.Context, name, task string, progress func(int), into any) (mine bool, err error) {
	if !r.shared() {
		return true, nil
	}
	for {
		if r.leases.Held(name) {
			return true, nil
		}
		result, err := r.leases.Ask(ctx, lease.Question{Lease: name, Task: task, Progress: progress, Holder: func(p lease.Place) {
			if p.Process != 0 {
				r.log.Info("the holder of the lease has begun", zap.String("lease", name), zap.Stringer("holder", p))
			}
		}})
		if err == nil {
			if err := json.Unmarshal(result, into); err != nil {
				return false, fmt.Errorf("the result of the holder of the lease %s: %w: %w", name, store.ErrCorrupt, err)
			}
			return false, nil
		}
		if !errors.Is(err, ErrNobody) || r.share.Works {
			return false, err
		}
		r.log.Warn("no process holds the lease, so this one takes it", zap.String("lease", name))
		if _, err := r.leases.Take(ctx, r.wants[name]); err != nil {
			return false, err
		}
		// Another process may have been faster: then ask again.
	}
}

// guarded returns a function that makes a transaction commit only while this process holds a
// lease, and a function that ends the run.
func (r *Repository) guarded(ctx context.Context, name string) (guard func(*txn.Txn) error, leave func(), err error) {
	if !r.shared() {
		return func(*txn.Txn) error { return nil }, func() {}, nil
	}
	run, err := r.leases.Enter(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return func(tx *txn.Txn) error { return run.Guard(ctx, tx) }, run.Leave, nil
}
