package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// call holds the arguments of the function of mutate.sql.tmpl, in its order.
type call struct {
	table *table
	rows  []*store.RowMutation

	locks               []int64
	heads, tails, rests [][]byte

	absentGroup             []int32
	absentExact             []bool
	absentCol, absentEnd    [][]byte
	absentFirst, absentLast []int64

	requireGroup *int32
	requireCol   []byte
	requireTS    *int64

	row, group, op []int32
	col            [][]byte
	ts             []int64
	value          [][]byte
}

// newCall returns a call with empty lists: nil would be NULL.
func newCall(t *table, rows int) *call {
	return &call{
		table: t, locks: make([]int64, 0, rows),
		heads: make([][]byte, 0, rows), tails: make([][]byte, 0, rows), rests: make([][]byte, 0, rows),
		absentGroup: []int32{}, absentExact: []bool{}, absentCol: [][]byte{}, absentEnd: [][]byte{}, absentFirst: []int64{}, absentLast: []int64{},
		row: []int32{}, group: []int32{}, op: []int32{}, col: [][]byte{}, ts: []int64{}, value: [][]byte{},
	}
}

// add adds a row and its mutations, which were checked.
func (c *call) add(m *store.RowMutation) {
	k := splitRow(m.Row)
	c.rows = append(c.rows, m)
	c.locks = append(c.locks, lockNumber(c.table.name, m.Row))
	c.heads, c.tails, c.rests = append(c.heads, k.head), append(c.tails, k.tail), append(c.rests, k.rest)
	for i := range m.Mutations {
		mut := &m.Mutations[i]
		c.row = append(c.row, int32(len(c.rows)))
		c.group = append(c.group, c.table.number(mut.Group))
		c.op = append(c.op, int32(mut.Op))
		c.col = append(c.col, notNull(mut.Column))
		c.ts = append(c.ts, inverse(mut.TS))
		c.value = append(c.value, notNull(mut.Value))
	}
}

// guard adds the guards of the only row.
func (c *call) guard(m *store.RowMutation) {
	for i := range m.Absent {
		s := &m.Absent[i]
		lo, hi := engine.TSRange(s.MinTS, s.MaxTS)
		c.absentGroup = append(c.absentGroup, c.table.number(s.Group))
		c.absentExact = append(c.absentExact, !s.Prefix)
		c.absentCol = append(c.absentCol, notNull(s.Column))
		c.absentEnd = append(c.absentEnd, store.PrefixEnd(s.Column))
		c.absentFirst, c.absentLast = append(c.absentFirst, inverse(hi)), append(c.absentLast, inverse(lo))
	}
	if m.Require != nil {
		group, ts := c.table.number(m.Require.Group), inverse(m.Require.TS)
		c.requireGroup, c.requireCol, c.requireTS = &group, notNull(m.Require.Column), &ts
	}
}

// number is that of the SQL table of a group that is known to exist.
func (t *table) number(name string) int32 {
	i, _ := t.checker.Schema.Group(name)
	return int32(t.groups[i].Number)
}

// The first result of the function.
const (
	applied = iota
	found
	missing
)

// run calls the function once, in a transaction of its own.
func (c *call) run(ctx context.Context, k kind) (store.Result, error) {
	slices.Sort(c.locks)
	var (
		outcome int32
		group   *int32
		col     []byte
		ts      *int64
	)
	err := c.table.retry(ctx, k, c.table.calls, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, c.table.mutateSQL,
			c.locks, c.heads, c.tails, c.rests,
			c.absentGroup, c.absentExact, c.absentCol, c.absentEnd, c.absentFirst, c.absentLast,
			c.requireGroup, c.requireCol, c.requireTS,
			c.row, c.group, c.op, c.col, c.ts, c.value,
		).Scan(&outcome, &group, &col, &ts)
	})
	if err != nil {
		return store.Result{}, err
	}
	res := store.Result{Outcome: store.Applied}
	if outcome != applied {
		res.Outcome, res.Row = store.Refused, slices.Clone(c.rows[0].Row)
	}
	if outcome == found {
		res.Found = &store.Cell{Group: c.table.groupName(*group), Row: slices.Clone(c.rows[0].Row), Column: col, TS: timestamp(*ts)}
	}
	return res, nil
}

func (t *table) groupName(number int32) string {
	i := slices.IndexFunc(t.groups, func(g group) bool { return g.Number == int(number) })
	return t.groups[i].Name
}
