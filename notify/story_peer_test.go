package notify

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// peers is the commands about others who work on the table: a second pipeline,
// whose observers are called second/NAME in block and end; other transactions that read; and
// the locks that the dead leave.
func (s *story) peers(cmd string, arg func(int) string) error {
	ctx := context.Background()
	switch cmd {
	case "join":
		return s.join(ctx)
	case "leave":
		s.leave()
	case "hear":
		s.locked(func() { s.hear = arg(0) })
	case "read":
		s.work.Go(func() { s.read(ctx, arg(0), arg(1)) })
	case "locks":
		return s.eachLock(ctx, func(c store.Cell) error { s.say("lock in %s", c.Row); return nil })
	case "lose-lock":
		return s.eachLock(ctx, func(c store.Cell) error {
			if string(c.Row) != arg(0) {
				return nil
			}
			gone := store.Mutation{Op: store.Delete, Group: c.Group, Column: c.Column, TS: c.TS}
			return s.table.Apply(ctx, []store.RowMutation{{Row: c.Row, Mutations: []store.Mutation{gone}}})
		})
	}
	return nil
}

// join starts the second pipeline. It knows what it finds in the table, and what
// it hears.
func (s *story) join(ctx context.Context) error {
	registry, err := s.registry("second/")
	if err != nil {
		return err
	}
	peer := New(registry, Options{Workers: 1, Events: s.events("second/")})
	s.locked(func() { s.peer = peer })
	return peer.Start(ctx, s.db)
}

// leave stops the second pipeline, once its runs under way have ended.
func (s *story) leave() {
	var peer *Pipeline
	s.locked(func() { peer, s.peer = s.peer, nil })
	if peer == nil {
		return
	}
	s.work.Go(func() {
		if err := peer.Stop(); err != nil {
			s.say("second/ stopped: %v", err)
		}
	})
}

func (s *story) read(ctx context.Context, row, column string) {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		s.say("read %s: %v", row, err)
		return
	}
	defer tx.Rollback()
	v, err := tx.Get(ctx, row, col(column))
	s.say("read %s: %s", row, answer(err, fmt.Sprintf("%q", v.Data)))
}

func (s *story) eachLock(ctx context.Context, fn func(store.Cell) error) error {
	var locks []store.Cell
	_, err := s.table.Scan(ctx, store.Range{Group: "~lock"}, func(c store.Cell) error { locks = append(locks, c); return nil })
	for _, c := range locks {
		err = errors.Join(err, fn(c))
	}
	return err
}
