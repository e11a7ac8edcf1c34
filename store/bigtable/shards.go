package bigtable

import (
	"bytes"
	"context"
	"slices"

	"cloud.google.com/go/bigtable"
	"golang.org/x/sync/errgroup"
)

// A group with OwnTable is divided into shards by a hash of the row, and a scan is ordered by
// row. While few rows exist, one request reads the range of all shards, and
// they are sorted here. If that request stops at its limit, the shards are read in parallel,
// a page at a time, and merged: the page of each shard is so large that usually one is
// enough, since a hash divides any range of rows evenly.

// shardRow is a row that was read from a shard.
type shardRow struct {
	row   []byte
	cells versions
}

// oneRequest is how many rows one request reads from all shards; a scan with MaxCells reads
// few more than it may deliver.
const oneRequest = 1000

// own scans a group with OwnTable.
func (s *scan) own(ctx context.Context, of shards) (next []byte, err error) {
	limit := int64(oneRequest)
	if s.r.MaxCells > 0 {
		limit = max(limit, 2*int64(s.r.MaxCells))
	}
	var (
		ranges bigtable.RowRangeList
		rows   []shardRow
	)
	for _, d := range of {
		ranges = append(ranges, keyRange(string(d), s.r.Start, s.r.End))
	}
	err = s.db.readRange(ctx, s.db.own, ranges, s.w, limit, func(row []byte, cells versions) bool {
		rows = append(rows, shardRow{row, cells})
		return true
	})
	if err != nil {
		return nil, err
	}
	if int64(len(rows)) >= limit {
		return s.merge(ctx, of)
	}
	slices.SortFunc(rows, func(a, b shardRow) int { return bytes.Compare(a.row, b.row) })
	for _, r := range rows {
		if s.full() {
			return r.row, nil
		}
		if err := s.give(r.row, r.cells); err != nil {
			return r.row, err
		}
	}
	return nil, nil
}

// shard is the part of a range in one shard that was read so far.
type shard struct {
	digit string
	rows  []shardRow
	from  []byte // where the next page begins
	done  bool   // there is no next page
}

// merge reads pages of all shards in parallel and delivers their rows in order.
func (s *scan) merge(ctx context.Context, of shards) (next []byte, err error) {
	page := int64(oneRequest / len(of))
	if s.r.MaxCells > 0 {
		page = int64(s.r.MaxCells/len(of)*5/4 + 8)
	}
	list := make([]*shard, len(of))
	for i, d := range of {
		list[i] = &shard{digit: string(d), from: s.r.Start}
	}
	for {
		if err := s.fill(ctx, list, page); err != nil {
			return nil, err
		}
		first := slices.MinFunc(list, func(a, b *shard) int {
			if len(a.rows) == 0 || len(b.rows) == 0 {
				return len(b.rows) - len(a.rows) // one that has rows comes first
			}
			return bytes.Compare(a.rows[0].row, b.rows[0].row)
		})
		if len(first.rows) == 0 {
			return nil, nil
		}
		r := first.rows[0]
		if s.full() {
			return r.row, nil
		}
		if err := s.give(r.row, r.cells); err != nil {
			return r.row, err
		}
		first.rows = first.rows[1:]
	}
}

// fill reads the next page of each shard that has no rows left.
func (s *scan) fill(ctx context.Context, list []*shard, page int64) error {
	if !slices.ContainsFunc(list, (*shard).empty) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, sh := range list {
		if !sh.empty() {
			continue
		}
		g.Go(func() error {
			keys := bigtable.RowRangeList{keyRange(sh.digit, sh.from, s.r.End)}
			err := s.db.readRange(ctx, s.db.own, keys, s.w, page, func(row []byte, cells versions) bool {
				sh.rows = append(sh.rows, shardRow{row, cells})
				return true
			})
			if int64(len(sh.rows)) < page {
				sh.done = true
			} else {
				sh.from = append(slices.Clone(sh.rows[len(sh.rows)-1].row), 0)
			}
			return err
		})
	}
	return g.Wait()
}

// empty reports whether the next page of the shard is needed.
func (sh *shard) empty() bool { return len(sh.rows) == 0 && !sh.done }
