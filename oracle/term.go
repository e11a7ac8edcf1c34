package oracle

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The row of the oracle. Its ceiling is the one that txn's own oracle uses, so a table can
// change from one process to many and back.
var (
	oracleRow     = []byte("oracle")
	ceilingColumn = []byte("ceiling")
	holderColumn  = []byte("holder")
)

// ErrReplaced means that another process has begun a later term, so this one hands out no more.
var ErrReplaced = errors.New("oracle: another process has taken over")

// Holder is the process that serves, or served last.
type Holder struct {
	// Token is its liveness token; empty if it has left.
	Token string `json:"token"`
	// Address is where it can be reached.
	Address string `json:"address,omitempty"`
	// Domain says where the token is (Member.Domain).
	Domain string `json:"domain,omitempty"`

	term uint64 // the timestamp of the cell; 0 if there never was one
}

// ReadHolder reads from the table which process serves the timestamps, or served them last.
func ReadHolder(ctx context.Context, table store.Reader) (Holder, error) {
	cells, err := table.Read(ctx, oracleRow, newest(holderColumn))
	if err != nil {
		return Holder{}, fmt.Errorf("oracle: read who serves: %w", err)
	}
	if len(cells) == 0 {
		return Holder{}, nil
	}
	h := Holder{term: cells[0].TS}
	if err := json.Unmarshal(cells[0].Value, &h); err != nil {
		return Holder{}, fmt.Errorf("oracle: the cell that names the oracle: %w: %w", store.ErrCorrupt, err)
	}
	return h, nil
}

// HolderIn returns ReadHolder of a table.
func HolderIn(table store.Reader) func(context.Context) (Holder, error) {
	return func(ctx context.Context) (Holder, error) { return ReadHolder(ctx, table) }
}

// noLaterTerm is the fence: it holds unless a later term has begun.
func noLaterTerm(term uint64) store.Selector {
	return store.Selector{Group: txn.MetaGroup, Column: holderColumn, MinTS: term + 1}
}

// claim begins the term after prev for a process. It reports false if another process was
// faster. If the outcome is unknown, it tries again: the mutation has the same effect
// however often it is applied, and the row tells who has won.
func claim(ctx context.Context, table store.Table, prev, next Holder) (Holder, bool, error) {
	next.term = prev.term + 1
	value, err := json.Marshal(next)
	if err != nil {
		return Holder{}, false, err
	}
	m := store.RowMutation{
		Row:       oracleRow,
		Absent:    []store.Selector{noLaterTerm(prev.term)},
		Mutations: []store.Mutation{{Op: store.Put, Group: txn.MetaGroup, Column: holderColumn, TS: next.term, Value: value}},
	}
	for {
		res, err := table.Mutate(ctx, m)
		if err == nil && res.Outcome == store.Applied {
			return next, true, nil
		}
		now, rerr := ReadHolder(ctx, table)
		switch {
		case rerr != nil:
			return Holder{}, false, errors.Join(err, rerr)
		case now == next:
			return next, true, nil
		case now.term > prev.term:
			return Holder{}, false, nil
		case err == nil || errors.Is(err, store.ErrNotDone) || ctx.Err() != nil:
			return Holder{}, false, fmt.Errorf("oracle: begin term %d: %w", next.term, errors.Join(err, context.Cause(ctx)))
		}
		if err := sleep.For(ctx, retryPause); err != nil {
			return Holder{}, false, err
		}
	}
}

// readCeiling reads the ceiling. The reader's term has begun, so only the reader raises it.
func readCeiling(ctx context.Context, table store.Table) (uint64, error) {
	cells, err := table.Read(ctx, oracleRow, newest(ceilingColumn))
	if err != nil {
		return 0, fmt.Errorf("oracle: read the ceiling: %w", err)
	}
	if len(cells) == 0 {
		return firstTimestamp, nil
	}
	if len(cells[0].Value) != 8 {
		return 0, fmt.Errorf("oracle: the ceiling has %d bytes, not 8: %w", len(cells[0].Value), store.ErrCorrupt)
	}
	return binary.BigEndian.Uint64(cells[0].Value), nil
}

// firstTimestamp is the first of a new table; 0 means "no bound" to the store.
const firstTimestamp = 16

// raiseCeiling persists a ceiling in a term. After an error it may be called again with the
// same or a greater one.
func raiseCeiling(ctx context.Context, table store.Table, term, ceiling uint64) error {
	res, err := table.Mutate(ctx, store.RowMutation{
		Row:    oracleRow,
		Absent: []store.Selector{noLaterTerm(term)},
		Mutations: []store.Mutation{{
			Op: store.Put, Group: txn.MetaGroup, Column: ceilingColumn, TS: ceiling,
			Value: binary.BigEndian.AppendUint64(nil, ceiling),
		}},
	})
	if err != nil {
		return fmt.Errorf("oracle: raise the ceiling to %d: %w", ceiling, err)
	}
	if res.Outcome == store.Refused {
		return ErrReplaced
	}
	return nil
}
