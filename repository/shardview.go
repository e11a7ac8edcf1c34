package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/txn"
)

// Shard is a shard of the index files and its holder.
type Shard struct {
	Number, Of int
	Holder     *lease.Holder // nil: none
}

// Name is "shard 2 of 4".
func (s Shard) Name() string { return fmt.Sprintf("shard %d of %d", s.Number, s.Of) }

// Shards lists the shards of the index files with their holders, which may be dead. The
// list is empty if the index files are not divided.
func (r *Repository) Shards(ctx context.Context) (list []Shard, err error) {
	if r.shards == nil {
		return nil, nil
	}
	err = r.db.View(ctx, func(tx *txn.Txn) error {
		n := len(r.shards.list)
		for i := range n {
			h, err := lease.HolderOf(ctx, tx, observers.LeaseShard(i))
			if err != nil {
				return err
			}
			list = append(list, Shard{i, n, h})
		}
		return nil
	})
	return list, err
}

// HoldsShard reports whether this process holds a shard and its files are up to date. Index files
// that are not divided are shard 0 of 1. A process that is cut off from the table keeps what it
// holds: while the table is unreachable, no other process can have taken the shard, and searches
// go on.
func (r *Repository) HoldsShard(number, of int) bool {
	if r.shards == nil {
		return r.leases != nil && number == 0 && of == 1 && r.leases.Keeps(observers.LeaseIndex)
	}
	return of == len(r.shards.list) && number >= 0 && number < of && r.leases.Keeps(observers.LeaseShard(number))
}

// ShardDir returns the directory of a shard that this process holds.
func (r *Repository) ShardDir(number, of int) string {
	if of == 1 {
		return IndexDir(r.dir)
	}
	return ShardDir(r.dir, number, of)
}

// isPreparing reports whether this process has taken a shard that is not up to date yet. A process
// that is alone will take all of them.
func (r *Repository) isPreparing(s Shard) bool {
	name := observers.LeaseShard(s.Number)
	return r.share.Alone && !r.leases.Keeps(name) || s.Holder != nil && r.leases.Preparing(name, s.Holder)
}

// shardsHere returns the shards whose files in the data directory are kept up to date, by this
// process or by another one on this machine. Like hasIndex, it waits for files that catch up.
func (r *Repository) shardsHere(ctx context.Context) (list []*indexShard, err error) {
	all, err := r.Shards(ctx)
	for err == nil && slices.ContainsFunc(all, r.isPreparing) {
		if err = cmp.Or(r.pipeline.Err(), sleep.For(ctx, preparingEvery)); err == nil {
			all, err = r.Shards(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	here, err := r.place()
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		sh := r.shards.list[i]
		if h := s.Holder; h != nil && h.Place.SameDirectory(here) && index.Exists(sh.files.dir) {
			list = append(list, sh)
		}
	}
	return list, nil
}

// viewShards opens the shards that are kept here, as they are now.
func (r *Repository) viewShards(ctx context.Context) (_ IndexView, err error) {
	list, err := r.shardsHere(ctx)
	if err != nil {
		return nil, err
	}
	v := &shardsView{of: len(r.shards.list)}
	for _, sh := range list {
		one, err := openView(ctx, sh.files.dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("shard %s: %w", ShardName(sh.number, v.of), err), v.Close())
		}
		v.parts = append(v.parts, shardView{one, sh})
	}
	return v, nil
}

// shardsView is a view of some shards, in ascending order.
type shardsView struct {
	of    int
	parts []shardView
}

type shardView struct {
	IndexView
	*indexShard
}

// Covers reports whether a cluster is in one of the shards of the view.
func (v *shardsView) Covers(key page.ContentKey) bool {
	n := shardOf(string(key[:2]), v.of)
	return slices.ContainsFunc(v.parts, func(p shardView) bool { return p.number == n })
}

// State implements IndexView.
func (v *shardsView) State() (s index.State) {
	for _, p := range v.parts {
		one := p.State()
		s.Documents += one.Documents
		s.Sum += one.Sum
		s.Applied += one.Applied
		s.Seq = max(s.Seq, one.Seq)
	}
	return s
}

// Entries implements IndexView. The shards are ranges in the order of clusters.
func (v *shardsView) Entries(ctx context.Context) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for _, p := range v.parts {
			for e, err := range p.Entries(ctx) {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// Documents implements IndexView.
func (v *shardsView) Documents(ctx context.Context, fn func(index.Document) error) error {
	return v.each(func(p shardView) error { return p.Documents(ctx, fn) })
}

// Check implements IndexView.
func (v *shardsView) Check(ctx context.Context) error {
	return v.each(func(p shardView) error { return p.Check(ctx) })
}

func (v *shardsView) each(do func(shardView) error) error {
	for _, p := range v.parts {
		if err := do(p); err != nil {
			return fmt.Errorf("shard %s: %w", ShardName(p.number, v.of), err)
		}
	}
	return nil
}

// Close implements IndexView.
func (v *shardsView) Close() error {
	var errs []error
	for _, p := range v.parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
