// Package tablecopy copies a table to another engine, cell by cell: from a data directory to a
// database when one machine is no longer enough, or back.
//
// A copy has every version of every column with its timestamp. So it includes the state of
// transactions: locks, notifications, the ceiling of timestamps. A process that opens the copy
// continues where the source stopped.
//
// The source is read at one instant if its engine has snapshots. Otherwise nothing may
// write to it during the copy; the comparison at the end detects writes.
//
// Cells about the processes that use the source, such as liveness tokens, mean nothing in the
// copy. Options names them, because a table does not know them.
package tablecopy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/store"
)

// Options of Run. Group is required.
type Options struct {
	// Group is a Latest group of both tables, in which the destination remembers how
	// far the copy has come. The cell is removed at the end, and its group is copied last.
	Group string
	// Progress is called after each part that is safe in the destination. It may be nil.
	Progress func(Progress)
	// Leave names groups that are not copied. They may be missing on either side, and must
	// be empty in the destination.
	Leave []string
	// Skip reports whether a cell is neither copied nor compared. nil skips none.
	Skip func(store.Cell) bool

	cells int // replaces partCells in tests
}

// Progress is how far a copy has come.
type Progress struct {
	Group string `json:"group"` // that is being copied
	Next  []byte `json:"next"`  // the row that comes next
	Cells int64  `json:"cells"` // copied so far, over all groups
}

// Result counts what a copy holds, by group.
type Result map[string]Sum

// The sizes of a part. A part holds whole rows of the source with about this many cells
// or bytes.
const (
	partCells = 4096
	partBytes = 4 << 20
	// mutationBytes bounds the mutations of a row that are written together: a table with little
	// memory takes less than its limits say.
	mutationBytes = 512 << 10
)

var (
	progressRow    = []byte("\x00copy")
	progressColumn = []byte("progress")
)

// errSplit ends a scan when a part is full.
var errSplit = errors.New("the part is full")

// Run copies from one table to another, and compares them. The destination must be empty, or
// have a part of an earlier Run, which then continues. Until Run succeeds, Incomplete reports that
// the destination must not be used.
func Run(ctx context.Context, from, to store.Table, opts Options) (Result, error) {
	if err := checkGroups(from, to, opts); err != nil {
		return nil, err
	}
	c := &copying{to: to, opts: opts, from: from}
	if s, ok := from.(store.Snapshotter); ok {
		snapshot := s.Snapshot()
		defer snapshot.Close()
		c.from = snapshot
	}
	if err := c.begin(ctx); err != nil {
		return nil, fmt.Errorf("begin the copy: %w", err)
	}
	for _, g := range c.left() {
		if err := c.group(ctx, g); err != nil {
			return nil, fmt.Errorf("copy group %q: %w", g, err)
		}
	}
	result, err := c.compare(ctx)
	if err != nil {
		return nil, err
	}
	return result, c.end(ctx)
}

// Incomplete reports whether a table has a copy that has not ended.
func Incomplete(ctx context.Context, table store.Reader, group string) (bool, error) {
	p, err := readProgress(ctx, table, group)
	return p != nil, err
}

func checkGroups(from, to store.Table, opts Options) error {
	progress := opts.Group
	kinds := func(t store.Table) map[string]bool {
		m := map[string]bool{}
		for _, g := range t.Groups() {
			if !slices.Contains(opts.Leave, g.Name) {
				m[g.Name] = g.Latest
			}
		}
		return m
	}
	source, destination := kinds(from), kinds(to)
	for name, latest := range source {
		if other, ok := destination[name]; !ok || other != latest {
			return fmt.Errorf("store: group %q of the source is missing in the destination of the copy, or keeps other versions there: open both with the same groups", name)
		}
	}
	if len(source) != len(destination) || !source[progress] {
		return fmt.Errorf("store: the copy needs the same groups on both sides, and among them %q, with Latest", progress)
	}
	return nil
}

type copying struct {
	from store.Reader
	to   store.Table
	opts Options
	at   Progress
}

// order lists the groups as they are copied.
func (c *copying) order() (names []string) {
	for _, g := range c.to.Groups() {
		if g.Name != c.opts.Group && !slices.Contains(c.opts.Leave, g.Name) {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return append(names, c.opts.Group)
}

// left lists the groups that are not copied yet.
func (c *copying) left() []string {
	names := c.order()
	return names[max(0, slices.Index(names, c.at.Group)):]
}

// begin continues an earlier copy, or claims an empty destination before its first cell. It refuses
// a complete copy, too: a command that was killed after end did not report it.
func (c *copying) begin(ctx context.Context) error {
	p, err := readProgress(ctx, c.to, c.opts.Group)
	if err != nil {
		return err
	}
	if p != nil {
		if !slices.Contains(c.order(), p.Group) {
			return fmt.Errorf("%w: the destination holds an unfinished copy of another table, which stopped at group %q: empty the destination", store.ErrForeign, p.Group)
		}
		c.at = *p
		return nil
	}
	for _, g := range c.to.Groups() {
		_, err := c.to.Scan(ctx, store.Range{Group: g.Name, MaxCells: 1}, func(cell store.Cell) error {
			return fmt.Errorf("%w: the destination of the copy is not empty, and it has no unfinished copy: group %q has row %.40q", store.ErrForeign, g.Name, cell.Row)
		})
		if err != nil {
			return err
		}
	}
	c.at.Group = c.order()[0]
	return c.claim(ctx)
}

// claim is the first write to the destination. Of two copies that begin at the same time,
// one is refused.
func (c *copying) claim(ctx context.Context) error {
	m, err := c.note()
	if err != nil {
		return err
	}
	m.Absent = []store.Selector{{Group: c.opts.Group, Column: progressColumn}}
	res, err := c.to.Mutate(ctx, m)
	if err != nil {
		return fmt.Errorf("claim the destination of the copy: %w", err)
	}
	if res.Outcome != store.Applied {
		return fmt.Errorf("%w: another copy to the same destination has just begun: wait for it, or choose another destination", store.ErrForeign)
	}
	return nil
}

// group copies a group, from where the copy has come to.
func (c *copying) group(ctx context.Context, name string) error {
	for {
		p := &part{limit: min(c.to.Limits().MaxBatchBytes/2, mutationBytes), skip: c.opts.Skip}
		next, err := c.from.Scan(ctx, store.Range{Group: name, Start: c.at.Next, MaxCells: cmp.Or(c.opts.cells, partCells)}, p.add)
		if err != nil && !errors.Is(err, errSplit) {
			return err
		}
		if err := c.write(ctx, p, next); err != nil || next == nil {
			return err
		}
	}
}

// write writes a part and then notes where the next one begins. A crash in between leaves cells
// that the next attempt writes again. After the last group, nothing is noted: the comparison
// comes next.
func (c *copying) write(ctx context.Context, p *part, next []byte) error {
	if err := c.to.Apply(ctx, p.rows); err != nil {
		return err
	}
	c.at.Next, c.at.Cells = next, c.at.Cells+p.cells
	if next == nil {
		following := c.left()[1:]
		if len(following) == 0 {
			return nil
		}
		c.at.Group = following[0]
	}
	if err := c.remember(ctx); err != nil {
		return err
	}
	if c.opts.Progress != nil && p.cells > 0 {
		c.opts.Progress(c.at)
	}
	return nil
}

// part collects cells as mutations. A row with more bytes, or cells, than one batch may have comes in
// several. Cells are bounded because engines count more for each than its bytes.
type part struct {
	limit       int
	skip        func(store.Cell) bool
	rows        []store.RowMutation
	cells       int64
	bytes, size int // of the part, and of its last mutation
}

// add ends the scan between two rows if the part is full.
func (p *part) add(c store.Cell) error {
	if p.skip != nil && p.skip(c) {
		return nil
	}
	n := len(c.Row) + len(c.Column) + len(c.Value)
	last := len(p.rows) - 1
	same := last >= 0 && string(p.rows[last].Row) == string(c.Row)
	if p.bytes >= partBytes && !same {
		return errSplit
	}
	if !same || p.size+n > p.limit || len(p.rows[last].Mutations) == partCells {
		p.rows = append(p.rows, store.RowMutation{Row: c.Row})
		p.size, last = 0, last+1
	}
	p.rows[last].Mutations = append(p.rows[last].Mutations, store.Mutation{Op: store.Put, Group: c.Group, Column: c.Column, TS: c.TS, Value: c.Value})
	p.cells++
	p.bytes, p.size = p.bytes+n, p.size+n
	return nil
}

func readProgress(ctx context.Context, table store.Reader, group string) (*Progress, error) {
	cells, err := table.Read(ctx, progressRow, store.Selector{Group: group, Column: progressColumn})
	if err != nil || len(cells) == 0 {
		return nil, err
	}
	p := &Progress{}
	if err := json.Unmarshal(cells[0].Value, p); err != nil {
		return nil, fmt.Errorf("%w: the progress of the copy: %w", store.ErrCorrupt, err)
	}
	return p, nil
}

// note is the mutation that notes how far the copy has come.
func (c *copying) note() (store.RowMutation, error) {
	value, err := json.Marshal(c.at)
	return store.RowMutation{Row: progressRow, Mutations: []store.Mutation{{
		Op: store.Put, Group: c.opts.Group, Column: progressColumn, TS: 1, Value: value,
	}}}, err
}

func (c *copying) remember(ctx context.Context) error {
	m, err := c.note()
	if err != nil {
		return err
	}
	return c.to.Apply(ctx, []store.RowMutation{m})
}

// end says that the copy is complete.
func (c *copying) end(ctx context.Context) error {
	err := c.to.Apply(ctx, []store.RowMutation{{Row: progressRow, Mutations: []store.Mutation{{
		Op: store.DeleteUpTo, Group: c.opts.Group, Column: progressColumn, TS: 1,
	}}}})
	if err != nil {
		return fmt.Errorf("mark the copy as complete: %w", err)
	}
	return nil
}
