package txn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/store"
)

// Problem is an inconsistency in the table.
type Problem struct {
	Group  string `json:"table"`
	Row    string `json:"row"`
	Column string `json:"column,omitempty"`
	TS     uint64 `json:"ts,omitempty"`
	What   string `json:"problem"`
}

// String names the place and the problem.
func (p Problem) String() string {
	place := fmt.Sprintf("%s %q", p.Group, p.Row)
	if p.Column != "" {
		place += " " + p.Column
	}
	if p.TS != 0 {
		place += fmt.Sprintf(" at %d", p.TS)
	}
	return place + ": " + p.What
}

// Checked counts the records that a check examined.
type Checked struct {
	Rows    int `json:"rows"`
	Cells   int `json:"cells"`
	Records int `json:"records"`
	Locks   int `json:"locks"`
	Notes   int `json:"notifications"`
	Acks    int `json:"acknowledgements"`
	Reads   int `json:"read_locks"`
}

// CheckOptions describe the application's use of the table.
type CheckOptions struct {
	// Row says why a row's key is not a valid key of its group; nil checks no keys.
	Row func(group, row string) error
	// Observes reports whether an observer is registered for a column, and whether
	// it is a strong one; nil checks none.
	Observes func(c Column, observer string) (watches, strong bool)
	// Progress is called now and then with what was checked so far. It may be nil.
	Progress func(Checked)
}

// Check tests whether the records of the table are consistent, at one instant if the table has
// snapshots, and passes each problem to found. It checks that
//
//   - every record can be read, and every timestamp was handed out;
//   - every row belongs to its group;
//   - a write comes after its start, and starts after the previous write;
//   - a write that points to a value has that value;
//   - no transaction is committed twice at a cell, or committed and rolled back, or
//     committed while it still holds the lock;
//   - a lock names a primary in an existing group, and a locked primary names
//     itself;
//   - notifications and acknowledgements belong to existing observers;
//   - a cell that was read for update belongs to an existing group.
//
// It recomputes nothing; `indexer verify` does.
func (db *DB) Check(ctx context.Context, opts CheckOptions, found func(Problem)) (Checked, error) {
	reader, done := db.instant()
	defer done()
	c := &checker{ctx: ctx, reader: reader, opts: opts, found: found, groups: make(map[string]bool), handedOut: db.handedOut}
	for _, g := range db.AppGroups() {
		c.groups[g] = true
	}
	for _, g := range append(db.AppGroups(), lockGroup, notifyGroup, leasedGroup, ackGroup, readGroup) {
		if err := c.group(g); err != nil {
			return c.n, fmt.Errorf("txn: check %s: %w", g, err)
		}
	}
	return c.n, nil
}

// handedOut returns a number above all timestamps handed out so far.
func (db *DB) handedOut(ctx context.Context) (uint64, error) {
	if db.oracle != nil {
		return db.oracle.Ceiling(), nil
	}
	ts, err := db.Now(ctx)
	return ts + 1, err
}

type checker struct {
	ctx     context.Context
	reader  store.Reader
	opts    CheckOptions
	found   func(Problem)
	groups  map[string]bool
	ceiling uint64 // all timestamps were below it when handedOut returned it
	n       Checked

	handedOut func(context.Context) (uint64, error)

	row     string
	columns map[string][]Record // of the row, without values
}

func (c *checker) group(group string) error {
	c.columns = make(map[string][]Record)
	for from, first := []byte(nil), true; ; {
		next, err := c.reader.Scan(c.ctx, store.Range{Group: group, Start: from, MaxCells: scanCells}, func(cell store.Cell) error {
			if row := string(cell.Row); first || row != c.row {
				c.endRow(group)
				c.row, first = row, false
				c.beginRow(group)
			}
			return c.record(group, describeRecord(cell))
		})
		if err != nil {
			return err
		}
		if c.opts.Progress != nil {
			c.opts.Progress(c.n)
		}
		if next == nil {
			c.endRow(group)
			return nil
		}
		from = next
	}
}

func (c *checker) beginRow(group string) {
	if strings.HasPrefix(group, "~") {
		return
	}
	c.n.Rows++
	if c.opts.Row == nil {
		return
	}
	if err := c.opts.Row(group, c.row); err != nil {
		c.found(Problem{Group: group, Row: c.row, What: "the row's key: " + err.Error()})
	}
}

// record checks one record by itself, and keeps the records of cells for endRow.
func (c *checker) record(group string, r Record) error {
	c.n.Records++
	bad := func(format string, args ...any) {
		c.found(Problem{Group: group, Row: r.Cell.Row, Column: r.Cell.Name, TS: r.TS, What: fmt.Sprintf(format, args...)})
	}
	switch {
	case r.Damage != nil:
		bad("%v", r.Damage)
		return nil
	case r.TS >= c.ceiling:
		// Other processes may have taken timestamps after handedOut.
		var err error
		if c.ceiling, err = c.handedOut(c.ctx); err != nil {
			return err
		}
		if r.TS >= c.ceiling {
			bad("a timestamp that was never handed out; all are below %d", c.ceiling)
		}
	}
	switch r.Kind {
	case KindLock:
		c.n.Locks++
		return c.lock(r, bad)
	case KindNotification, KindAcknowledgement:
		c.observer(r, bad)
	case KindReadLock:
		c.n.Reads++
		if !c.groups[r.Cell.Group] {
			bad("a record of a read lock in %s, a table that does not exist", r.Cell.Group)
		}
	default:
		r.Value = nil
		c.columns[r.Cell.Name] = append(c.columns[r.Cell.Name], r)
	}
	return nil
}

func (c *checker) observer(r Record, bad func(string, ...any)) {
	count := &c.n.Notes
	if r.Kind == KindAcknowledgement {
		count = &c.n.Acks
	}
	*count++
	if c.opts.Observes == nil {
		return
	}
	watches, strong := c.opts.Observes(r.Cell.Column, r.Observer)
	switch {
	case !watches:
		bad("%s of %s, which does not observe %s", r.Kind, r.Observer, r.Cell.Column)
	case r.Kind == KindAcknowledgement && !strong:
		bad("acknowledgement of %s, which never acknowledges", r.Observer)
	}
}

// lock checks the cell of a lock, and its primary.
func (c *checker) lock(r Record, bad func(string, ...any)) error {
	switch {
	case !c.groups[r.Cell.Group]:
		bad("a lock of %s, a table that does not exist", r.Cell.Group)
		return nil
	case !c.groups[r.Primary.Group]:
		bad("the lock's primary is in %q, a table that does not exist", r.Primary.Group)
		return nil
	}
	if err := c.lockedCell(r, bad); err != nil {
		return err
	}
	primary, err := c.reader.Read(c.ctx, []byte(r.Primary.Row), store.Selector{Group: lockGroup, Column: sideColumn(r.Primary.Column), MinTS: r.Start, MaxTS: r.Start})
	if err != nil || len(primary) == 0 {
		return err // committed or rolled back there, or never locked: all can be resolved
	}
	if p := describeRecord(primary[0]); p.Damage == nil && p.Primary != r.Primary {
		bad("the lock names the primary %s, which names %s as its own", r.Primary, p.Primary)
	}
	return nil
}

// lockedCell checks the records of a locked cell.
//
// Without a snapshot, the transaction may have ended between two reads. If its lock is gone, it
// has: the one write that ends a transaction at a cell also removes its lock.
func (c *checker) lockedCell(r Record, bad func(string, ...any)) error {
	read := func(group string, column []byte, most uint64) ([]store.Cell, error) {
		return c.reader.Read(c.ctx, []byte(r.Cell.Row), store.Selector{Group: group, Column: column, MinTS: r.Start, MaxTS: most})
	}
	var problems []string
	cells, err := read(r.Cell.Group, recordColumn(kindWrite, r.Cell.Name), 0)
	if err != nil {
		return err
	}
	for _, cell := range cells {
		if w := describeRecord(cell); w.Damage == nil && w.Start == r.Start {
			problems = append(problems, fmt.Sprintf("a lock of the transaction %d, which has committed here at %d", r.Start, w.TS))
		}
	}
	if r.Op == opPut.String() && !r.Inline {
		data, err := read(r.Cell.Group, recordColumn(kindData, r.Cell.Name), r.Start)
		if err != nil {
			return err
		}
		if len(data) == 0 {
			problems = append(problems, "a lock that refers to a missing value")
		}
	}
	if len(problems) == 0 {
		return nil
	}
	held, err := read(lockGroup, sideColumn(r.Cell.Column), r.Start)
	if err != nil || len(held) == 0 {
		return err
	}
	for _, problem := range problems {
		bad("%s", problem)
	}
	return nil
}

// endRow checks the records of each column of a row against each other.
func (c *checker) endRow(group string) {
	for name, records := range c.columns {
		c.n.Cells++
		bad := func(ts uint64, format string, args ...any) {
			c.found(Problem{Group: group, Row: c.row, Column: name, TS: ts, What: fmt.Sprintf(format, args...)})
		}
		checkColumn(records, bad)
	}
	clear(c.columns)
}

func checkColumn(records []Record, bad func(uint64, string, ...any)) {
	var writes []Record
	data, rolledBack := make(map[uint64]bool), make(map[uint64]bool)
	for _, r := range records {
		switch r.Kind {
		case KindData:
			data[r.TS] = true
		case KindRollback:
			rolledBack[r.TS] = true
		case KindWrite:
			writes = append(writes, r)
		}
	}
	for _, r := range records {
		if r.Kind == KindLockRecord && rolledBack[r.Start] {
			bad(r.TS, "a commit of the transaction %d, which was rolled back here", r.Start)
		}
	}
	slices.SortFunc(writes, func(a, b Record) int { return cmp.Compare(a.TS, b.TS) })
	for i, w := range writes {
		switch {
		case w.Start >= w.TS:
			bad(w.TS, "a write of a transaction that started at %d, not before", w.Start)
		case rolledBack[w.Start]:
			bad(w.TS, "a write of the transaction %d, which was rolled back here", w.Start)
		case i > 0 && writes[i-1].Start == w.Start:
			bad(w.TS, "the transaction %d has committed twice here, also at %d", w.Start, writes[i-1].TS)
		case i > 0 && w.Start <= writes[i-1].TS:
			bad(w.TS, "a write of a transaction that started at %d and cannot have seen the one at %d", w.Start, writes[i-1].TS)
		}
		switch {
		case w.Op == opLock.String(), w.Op == opRead.String():
			bad(w.TS, "a write that only locks")
		case w.Op == opPut.String() && !w.Inline && !data[w.Start]:
			bad(w.TS, "a write points to a missing value at %d", w.Start)
		}
	}
}
