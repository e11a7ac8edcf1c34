package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// ShardSource opens sessions of a shard, here or on another machine. It is safe for
// concurrent use.
type ShardSource interface {
	// Name says which shard it is, and where, for messages.
	Name() string
	// Begin pins the newest state of the shard.
	Begin(ctx context.Context) (Session, error)
}

// Shards searches the shards of an index as one index (shard.go). It is safe for concurrent
// use.
//
// A shard that does not answer, or cannot be read, does not stop a search: the search begins
// again without that shard, and [Results].Incomplete names it. If no shard answers, the
// search fails.
type Shards struct {
	sources []ShardSource
	missing []string
	names   *Names
}

// NewShards searches these shards. Missing names further shards that have no holder to
// ask.
func NewShards(sources []ShardSource, missing ...string) *Shards {
	return &Shards{sources: sources, missing: missing, names: NewNames()}
}

// Search is [Run] on the newest state of all shards.
func (s *Shards) Search(ctx context.Context, q string, opts Options) (*Results, error) {
	begun := time.Now()
	if err := opts.check(); err != nil {
		return nil, err
	}
	var res *Results
	missing, err := s.use(ctx, func(ctx context.Context, f *fanout) (err error) {
		res, err = searchAll(ctx, f, s.names, q, &opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		res.Incomplete = missing
		res.Notes = append(slices.Clone(res.Notes), "The result is incomplete, because a part of the index did not answer: "+strings.Join(missing, "; ")+".")
	}
	res.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	return res, nil
}

// Count returns the number of documents in all shards. If a shard does not answer, Count fails.
func (s *Shards) Count(ctx context.Context) (n int, err error) {
	missing, err := s.use(ctx, func(ctx context.Context, f *fanout) (err error) {
		n, err = f.documents(ctx)
		return err
	})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("count documents: %w: %s", ErrUnavailable, strings.Join(missing, "; "))
	}
	return n, err
}

// Filters is [FiltersOf] of the shards that answer.
func (s *Shards) Filters(ctx context.Context) (list Filters, err error) {
	_, err = s.use(ctx, func(ctx context.Context, f *fanout) (err error) {
		list, err = filtersOf(ctx, f)
		return err
	})
	return list, err
}

// Ready returns an error unless every shard answers.
func (s *Shards) Ready(ctx context.Context) error {
	_, err := s.Count(ctx)
	return err
}

// use calls do with the shards that answer, and again without those that fail, until all
// that are left answer. It returns which do not.
func (s *Shards) use(ctx context.Context, do func(context.Context, *fanout) error) (missing []string, err error) {
	missing = slices.Clone(s.missing)
	left := slices.Clone(s.sources)
	var errs []error
	drop := func(i int, err error) {
		missing = append(missing, fmt.Sprintf("%s: %v", left[i].Name(), err))
		errs = append(errs, fmt.Errorf("%s: %w", left[i].Name(), err))
		left = slices.Delete(left, i, i+1)
	}
	for len(left) > 0 {
		sessions, failed := begin(ctx, left)
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, closeSessions(sessions))
		}
		for i, err := range slices.Backward(failed) {
			if err != nil {
				drop(i, err)
				sessions = slices.Delete(sessions, i, i+1)
			}
		}
		if len(left) == 0 {
			break
		}
		err := do(ctx, newFanout(sessions...))
		closed := closeSessions(sessions)
		of, ofShard := errors.AsType[*shardError](err)
		switch {
		case err == nil && closed == nil:
			return missing, nil
		case ctx.Err() != nil || !ofShard:
			return missing, errors.Join(err, closed)
		}
		drop(of.shard, errors.Join(of.error, closed))
	}
	if len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%w: %s", ErrUnavailable, strings.Join(missing, "; ")))
	}
	return nil, fmt.Errorf("no part of the index answers: %w", errors.Join(errs...))
}

// begin opens sessions, in parallel. A failed one is nil.
func begin(ctx context.Context, sources []ShardSource) (sessions []Session, failed []error) {
	sessions, failed = make([]Session, len(sources)), make([]error, len(sources))
	var work sync.WaitGroup
	for i, source := range sources {
		work.Go(func() { sessions[i], failed[i] = source.Begin(ctx) })
	}
	work.Wait()
	return sessions, failed
}

func closeSessions(list []Session) error {
	var errs []error
	for _, s := range list {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}
