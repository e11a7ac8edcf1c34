package badgerdb

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/webindexer/indexer/store"
)

// plan is what a request will do, worked out before anything is done: which keys
// it touches, what it adds to the transaction at most, and which cells its guards
// look at.
type plan struct {
	ops    []op
	guards []guard
	bytes  int // upper bound of what the ops write
	logged int // of bytes: values for blob files and the value log, which Badger does not count
	// puts counts the puts by hash of column; made for the first DeleteUpTo in a
	// versioned group, which may have to undo some of them.
	puts map[uint64]int
}

func (p *plan) add(o op) {
	if p.puts != nil && o.Op == store.Put {
		p.puts[o.column]++
	}
	p.ops = append(p.ops, o)
}

// putsInto counts the puts into a column so far.
func (p *plan) putsInto(column uint64) int {
	if p.puts == nil {
		p.puts = map[uint64]int{}
		for i := range p.ops {
			if p.ops[i].Op == store.Put {
				p.puts[p.ops[i].column]++
			}
		}
	}
	return p.puts[column]
}

// op is one mutation.
type op struct {
	*store.Mutation
	group  *group
	head   []byte // key without timestamp, with room for one that nothing else uses
	rowEnd int    // where the column starts in it
	column uint64 // hash of head
	// versions, for DeleteUpTo in a versioned group: those stored, newest first.
	versions []uint64
	undo     int // number of earlier puts of the request into the same column
}

// stamp is the timestamp of the mutation, in a request with this commit timestamp.
func (o *op) stamp(commitTS uint64) uint64 {
	if o.TS == store.AtCommit {
		return commitTS
	}
	return o.TS
}

// guard is one Absent selector or one Require.
type guard struct {
	row     []byte
	sel     *store.Selector // nil for a Require
	require *store.CellRef
	group   *group
	head    []byte
	hash    uint64 // of the column, or of the row's head for a prefix
}

// planner makes plans. All keys of a group of requests share one buffer, and so do all
// operations, guards and stored values. The next group reuses the buffers: Badger
// copies them into its log and its memtable, so nothing refers to them once a group is
// written or has failed.
type planner struct {
	db     *DB
	seed   maphash.Seed
	buf    []byte
	ops    []op
	looks  []guard
	values []byte
	long   []byte // values for blob files
	// changed are the groups into which the requests of this group of requests write.
	changed groupSet
	// met is the head of the last guard in a versioned group, for the put that it guards.
	met lastHead
}

// lastHead is a head that was made for a guard, until an operation takes it over.
type lastHead struct {
	group  *group // nil for none
	column []byte
	head   []byte
	rowEnd int
	hash   uint64
}

// Buffers above these sizes, in bytes and elements, are not kept for the next group.
const (
	keptBufferBytes = 1 << 20
	keptBufferLen   = 1 << 12
)

// reset begins a group.
func (p *planner) reset() {
	if p.buf = p.buf[:0]; cap(p.buf) > keptBufferBytes {
		p.buf = nil
	}
	p.ops, p.looks = emptied(p.ops), emptied(p.looks)
	p.changed = groupSet{}
}

// emptied returns an empty list with the memory of s, unless that is large. It does not keep alive
// what the elements point to, which callers wrote.
func emptied[T any](s []T) []T {
	if cap(s) > keptBufferLen {
		return nil
	}
	clear(s)
	return s[:0]
}

// valueBuffer returns an empty buffer with room for size bytes.
func (p *planner) valueBuffer(size int) []byte { return keptBuffer(&p.values, size) }

// longBuffer returns another one, for values that go to blob files.
func (p *planner) longBuffer(size int) []byte { return keptBuffer(&p.long, size) }

// keptBuffer returns an empty buffer with room for size bytes. The planner keeps it for
// the next group unless it is large.
func keptBuffer(kept *[]byte, size int) []byte {
	if size > keptBufferBytes {
		return make([]byte, 0, size)
	}
	if cap(*kept) < size {
		*kept = make([]byte, 0, size)
	}
	return (*kept)[:0]
}

// plan fills r.plan. It reads the store only to list the versions that a
// DeleteUpTo will remove.
func (p *planner) plan(r *request, rd *reader) error {
	r.plan = plan{ops: p.ops[len(p.ops):], guards: p.looks[len(p.looks):]}
	defer func() { // what was appended in place is taken, what was moved away is copied
		p.ops = append(p.ops, r.plan.ops...)
		p.looks = append(p.looks, r.plan.guards...)
	}()
	for i := range r.rows {
		m := &r.rows[i]
		p.met = lastHead{}
		p.guards(r, m)
		for j := range m.Mutations {
			if err := p.mutation(r, m.Row, &m.Mutations[j], rd); err != nil {
				return err
			}
		}
	}
	if n, most := r.plan.bytes-r.plan.logged, p.db.sizes.hardGroup; n > most {
		return fmt.Errorf("%w: batch of %d bytes as stored, at most %d: split it", store.ErrTooLarge, n, most)
	}
	return nil
}

// guards plans the guards of a row. A guard of a resident group that is empty holds, unless
// an earlier request of this group of requests writes there: then it has to be compared with
// what that request writes.
func (p *planner) guards(r *request, m *store.RowMutation) {
	for i := range m.Absent {
		sel := &m.Absent[i]
		g := p.db.group(sel.Group)
		if set := p.db.committer.residents[g.number]; set != nil && set.empty() && !p.changed.has(g.number) {
			p.db.stats.guardsFast.Add(1)
			continue
		}
		head, rowEnd := p.head(g, m.Row, sel.Column)
		hashed := head
		if sel.Prefix {
			hashed = head[:rowEnd]
		}
		hash := maphash.Bytes(p.seed, hashed)
		if !sel.Prefix && !g.Latest {
			p.met = lastHead{g, sel.Column, head, rowEnd, hash}
		}
		r.plan.guards = append(r.plan.guards, guard{row: m.Row, sel: sel, group: g, head: head, hash: hash})
	}
	if ref := m.Require; ref != nil {
		g := p.db.group(ref.Group)
		head, _ := p.head(g, m.Row, ref.Column)
		r.plan.guards = append(r.plan.guards, guard{row: m.Row, require: ref, group: g, head: head, hash: maphash.Bytes(p.seed, head)})
	}
}

func (p *planner) mutation(r *request, row []byte, m *store.Mutation, rd *reader) error {
	g := p.db.group(m.Group)
	o := op{Mutation: m, group: g}
	if met := &p.met; met.group == g && bytes.Equal(met.column, m.Column) {
		o.head, o.rowEnd, o.column = met.head, met.rowEnd, met.hash
		p.met = lastHead{} // the room after it is taken
	} else {
		o.head, o.rowEnd = p.head(g, row, m.Column)
		o.column = maphash.Bytes(p.seed, o.head)
	}
	p.changed.add(g.number)
	head := o.head
	keys := 1
	if m.Op == store.DeleteUpTo && !g.Latest {
		var err error
		o.versions, err = rd.versions(g, head, min(m.TS, store.MaxTS), p.db.sizes.hardGroup/(len(head)+opOverhead))
		if err != nil {
			return err
		}
		o.undo = r.plan.putsInto(o.column)
		keys = len(o.versions) + o.undo
	}
	r.plan.bytes += keys*(len(head)+tsBytes+opOverhead) + tsBytes + len(m.Value)
	if p.db.isLong(g, m.Value) || len(m.Value) >= logValueBytes {
		r.plan.logged += len(m.Value)
	}
	r.plan.add(o)
	return nil
}

// head appends a column's head to the buffer, with room for a timestamp. Growing the
// buffer leaves earlier heads in the old array, where they stay valid.
func (p *planner) head(g *group, row, column []byte) (head []byte, rowEnd int) {
	start := len(p.buf)
	p.buf = appendRow(p.buf, g.id, row)
	rowEnd = len(p.buf) - start
	p.buf = appendName(p.buf, column)
	end := len(p.buf)
	p.buf = append(p.buf, make([]byte, tsBytes)...)
	return p.buf[start:end:len(p.buf)], rowEnd
}

// touched is the set of columns and rows that the requests of a group have changed so
// far, by hash. A collision only splits the group.
type touched map[uint64]struct{}

func (t touched) add(p *plan, seed maphash.Seed) {
	for i := range p.ops {
		o := &p.ops[i]
		t[o.column] = struct{}{}
		t[maphash.Bytes(seed, o.head[:o.rowEnd])] = struct{}{}
	}
}

// concerns reports whether a plan reads something in the set.
func (t touched) concerns(p *plan) bool {
	if len(t) == 0 {
		return false
	}
	for i := range p.guards {
		if _, hit := t[p.guards[i].hash]; hit {
			return true
		}
	}
	for i := range p.ops {
		o := &p.ops[i]
		if o.Op == store.DeleteUpTo && !o.group.Latest {
			if _, hit := t[o.column]; hit {
				return true
			}
		}
	}
	return false
}
