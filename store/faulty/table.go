package faulty

import (
	"bytes"
	"context"

	"github.com/webindexer/indexer/store"
)

// Wrap returns the table with the plan applied to it. It has exactly the
// capabilities of the wrapped one, and closes it when it is closed.
func Wrap(inner store.Table, plan Plan) (store.Table, *Probe) {
	p := &Probe{plan: plan}
	t := &table{Table: inner, probe: p}
	s, snapshots := inner.(store.Snapshotter)
	c, commits := inner.(store.Committer)
	switch {
	case snapshots && commits:
		return struct {
			*table
			snapshotter
			committer
		}{t, snapshotter{s, p}, committer{c, p}}, p
	case snapshots:
		return struct {
			*table
			snapshotter
		}{t, snapshotter{s, p}}, p
	case commits:
		return struct {
			*table
			committer
		}{t, committer{c, p}}, p
	}
	return t, p
}

type table struct {
	store.Table
	probe *Probe
}

func (t *table) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	return read(ctx, t.probe, t.Table, row, sel)
}

func (t *table) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	return scan(ctx, t.probe, t.Table, r, fn)
}

func (t *table) Mutate(ctx context.Context, m store.RowMutation) (res store.Result, err error) {
	kept := t.probe.keeps(Mutate, []store.RowMutation{m})
	err = t.probe.write(ctx, Mutate, func() (err error) {
		res, err = t.Table.Mutate(ctx, m)
		return err
	}, func() { _, _ = t.Table.Mutate(context.Background(), kept[0]) })
	if err != nil {
		return store.Result{Outcome: store.Unknown}, err
	}
	return res, nil
}

func (t *table) Apply(ctx context.Context, rows []store.RowMutation) error {
	kept := t.probe.keeps(Apply, rows)
	return t.probe.write(ctx, Apply, func() error { return t.Table.Apply(ctx, rows) },
		func() { _ = t.Table.Apply(context.Background(), kept) })
}

func (t *table) Close() error {
	t.probe.flush()
	return t.Table.Close()
}

type committer struct {
	inner store.Committer
	probe *Probe
}

func (c committer) UseClock(clock store.Clock) { c.inner.UseClock(clock) }

func (c committer) Commit(ctx context.Context, rows []store.RowMutation) (ts uint64, res store.Result, err error) {
	kept := c.probe.keeps(Commit, rows)
	err = c.probe.write(ctx, Commit, func() (err error) {
		ts, res, err = c.inner.Commit(ctx, rows)
		return err
	}, func() { _, _, _ = c.inner.Commit(context.Background(), kept) })
	if err != nil {
		return 0, store.Result{Outcome: store.Unknown}, err
	}
	return ts, res, nil
}

type snapshotter struct {
	inner store.Snapshotter
	probe *Probe
}

func (s snapshotter) Snapshot() store.Snapshot {
	return &snapshot{Snapshot: s.inner.Snapshot(), probe: s.probe}
}

type snapshot struct {
	store.Snapshot
	probe *Probe
}

func (s *snapshot) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	return read(ctx, s.probe, s.Snapshot, row, sel)
}

func (s *snapshot) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	return scan(ctx, s.probe, s.Snapshot, r, fn)
}

func read(ctx context.Context, p *Probe, r store.Reader, row []byte, sel []store.Selector) (cells []store.Cell, err error) {
	err = p.read(ctx, Read, func() (err error) {
		cells, err = r.Read(ctx, row, sel...)
		return err
	})
	return cells, err
}

// scan fails before the first cell, if at all.
func scan(ctx context.Context, p *Probe, r store.Reader, rg store.Range, fn func(store.Cell) error) (next []byte, err error) {
	next = bytes.Clone(rg.Start)
	err = p.read(ctx, Scan, func() (err error) {
		next, err = r.Scan(ctx, rg, fn)
		return err
	})
	return next, err
}

// keeps returns a copy of rows that outlives the call, if one may be needed.
func (p *Probe) keeps(k Kind, rows []store.RowMutation) []store.RowMutation {
	if p.plan.Fault != Late || !p.plan.counts(k) {
		return rows
	}
	return cloneRows(rows)
}

func cloneRows(rows []store.RowMutation) []store.RowMutation {
	out := make([]store.RowMutation, len(rows))
	for i, m := range rows {
		c := store.RowMutation{Row: bytes.Clone(m.Row)}
		for _, sel := range m.Absent {
			sel.Column = bytes.Clone(sel.Column)
			c.Absent = append(c.Absent, sel)
		}
		if m.Require != nil {
			ref := *m.Require
			ref.Column = bytes.Clone(ref.Column)
			c.Require = &ref
		}
		for _, mut := range m.Mutations {
			mut.Column, mut.Value = bytes.Clone(mut.Column), bytes.Clone(mut.Value)
			c.Mutations = append(c.Mutations, mut)
		}
		out[i] = c
	}
	return out
}
