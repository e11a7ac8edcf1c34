package txnbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
)

// CostOptions of Cost.
type CostOptions struct {
	Cells      int // of 100 bytes
	Goroutines []int
	Slice      time.Duration
	Rounds     int
	Sync       bool
	Log        io.Writer
}

// CostRow is one rung of the ladder from raw Badger to a transaction.
type CostRow struct {
	Op         string  `json:"op"`
	Goroutines int     `json:"goroutines"`
	Micros     float64 `json:"microseconds"`     // between two ends of an operation
	CPU        float64 `json:"cpu_microseconds"` // of the processors, per operation; 0 where not known
	Ratio      float64 `json:"cpu_ratio"`        // to the first rung
}

// Cost asks the paper's closing question of one read and of one write: how much
// of the cost is fundamental, and how much can be optimised away? It climbs from
// raw Badger to a transaction, one thing more on each rung. The rungs are measured
// in turn; medians count.
func Cost(ctx context.Context, o CostOptions) ([]CostRow, error) {
	rows, err := measure.InTemp(func(dir string) (rows []CostRow, err error) {
		l, err := openLadder(ctx, dir, o)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.close()) }()
		for _, g := range o.Goroutines {
			for _, rungs := range [][]rung{l.reads(), l.writes()} {
				list, err := climb(ctx, rungs, g, o)
				if err != nil {
					return nil, err
				}
				for _, r := range list {
					rows = append(rows, r)
					fmt.Fprintln(o.Log, r.String())
				}
			}
		}
		return rows, nil
	})
	if err != nil {
		return nil, fmt.Errorf("txn cost: %w", err)
	}
	return rows, nil
}

// String is the row as a line.
func (r *CostRow) String() string {
	return fmt.Sprintf("%2d goroutines  %-52s  %8.2f µs  %8.2f µs of processor  ratio %.2f", r.Goroutines, r.Op, r.Micros, r.CPU, r.Ratio)
}

// rung is one operation of the ladder.
type rung struct {
	name string
	do   work
}

// climb measures rungs in turn.
func climb(ctx context.Context, rungs []rung, goroutines int, o CostOptions) ([]CostRow, error) {
	wall, cpu := make([][]float64, len(rungs)), make([][]float64, len(rungs))
	for range max(o.Rounds, 1) {
		for i, r := range rungs {
			c, err := costOf(ctx, goroutines, o.Slice, r.do)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			wall[i], cpu[i] = append(wall[i], c.wall), append(cpu[i], c.cpu)
		}
	}
	var rows []CostRow
	for i, r := range rungs {
		row := CostRow{Op: r.name, Goroutines: goroutines, Micros: measure.Median(wall[i]), CPU: measure.Median(cpu[i])}
		if first := measure.Median(cpu[0]); first > 0 {
			row.Ratio = row.CPU / first
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ladder holds the same cells in raw Badger, in a table, and in transactions.
type ladder struct {
	*trio
	cells *cells
	table *badgerdb.DB
	ts    atomic.Uint64
}

func openLadder(ctx context.Context, dir string, o CostOptions) (*ladder, error) {
	c, opts := newCells(o.Cells, 100), badgerdb.Options{SyncWrites: o.Sync}
	t, err := openTrio(ctx, dir, c, opts)
	if err != nil {
		return nil, err
	}
	table, err := badgerdb.Open(filepath.Join(dir, "plain"), []store.GroupSpec{{Name: column.Group}, {Name: "lock", Latest: true, Resident: true}}, opts)
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	l := &ladder{trio: t, cells: c, table: table}
	if err := l.fill(ctx); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *ladder) fill(ctx context.Context) error {
	for _, h := range l.all() {
		if err := l.cells.fill(ctx, h); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range l.cells.rows {
		if err := l.table.Apply(ctx, []store.RowMutation{l.put(i, rng)}); err != nil {
			return err
		}
	}
	return nil
}

func (l *ladder) close() error { return errors.Join(l.trio.close(), l.table.Close()) }

func (l *ladder) put(i int, rng *rand.Rand) store.RowMutation {
	return store.RowMutation{Row: []byte(l.cells.rows[i]), Mutations: []store.Mutation{
		{Op: store.Put, Group: column.Group, Column: []byte(column.Name), TS: l.ts.Add(1), Value: l.cells.value(i, rng)},
	}}
}

func (l *ladder) pick(rng *rand.Rand) int { return rng.IntN(len(l.cells.rows)) }

func (l *ladder) reads() []rung {
	one := l.one.(*ours).db
	return []rung{
		{"read: raw Badger", operation(l.raw, l.cells, "read")},
		{"read: newest version of a cell of the table", func(ctx context.Context, rng *rand.Rand) error {
			i := l.pick(rng)
			found, err := l.table.Read(ctx, []byte(l.cells.rows[i]), store.Selector{Group: column.Group, Column: []byte(column.Name), MaxTS: l.ts.Load(), Newest: 1})
			if err == nil && len(found) == 0 {
				err = fmt.Errorf("cell %d is not there", i)
			}
			if err != nil {
				return err
			}
			return l.cells.check(i, found[0].Value)
		}},
		{"read: a transaction", operation(l.one, l.cells, "read")},
		{"a timestamp", func(ctx context.Context, _ *rand.Rand) error {
			_, err := one.Timestamp(ctx)
			return err
		}},
		{"a transaction that does nothing", func(ctx context.Context, _ *rand.Rand) error {
			tx, err := one.Begin(ctx)
			if err == nil {
				tx.Rollback()
			}
			return err
		}},
	}
}

func (l *ladder) writes() []rung {
	guarded := func(ctx context.Context, rng *rand.Rand) error {
		i := l.pick(rng)
		m := l.put(i, rng)
		m.Absent = []store.Selector{
			{Group: column.Group, Column: []byte(column.Name), MinTS: m.Mutations[0].TS + 1<<40},
			{Group: "lock", Column: []byte(column.Name)},
		}
		res, err := l.table.Mutate(ctx, m)
		if err == nil && res.Outcome != store.Applied {
			err = fmt.Errorf("cell %d: %s", i, res.Outcome)
		}
		return err
	}
	return []rung{
		{"write: raw Badger", operation(l.raw, l.cells, "write")},
		{"write: a cell of the table", func(ctx context.Context, rng *rand.Rand) error {
			return l.table.Apply(ctx, []store.RowMutation{l.put(l.pick(rng), rng)})
		}},
		{"write: if there is no newer one and no lock", guarded},
		{"write: the same twice (what two phases cannot avoid)", func(ctx context.Context, rng *rand.Rand) error {
			return errors.Join(guarded(ctx, rng), guarded(ctx, rng))
		}},
		{"write: a transaction in one phase", operation(l.one, l.cells, "write")},
		{"write: a transaction in two phases", operation(l.two, l.cells, "write")},
	}
}
