package badgerdb

import (
	"bytes"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
)

// batch turns planned requests into one Badger transaction, and remembers what
// has to be done in memory once it is written.
type batch struct {
	c       *committer
	rd      *reader // the store before the group
	txn     *badger.Txn
	latest  *latestCells
	lone    bool // the group has a single operation on Latest groups, such as a lock
	effects []effect
	bounds  bounds
	large   bool    // some value is for the value log
	values  []byte  // shared buffer
	long    []byte  // values for blob files, as they are appended
	blob    pointer // where the next of them goes
	inline  int     // bytes that Badger gets
	entries int
	bytes   int
}

// effect is a change of the set of a resident group.
type effect struct {
	set *resident
	key []byte
	ts  uint64
	put bool
}

// fill adds all requests of a group, and the bounds of timestamps where they rise.
func (b *batch) fill(group []*request) error {
	if err := b.prepare(group); err != nil {
		return err
	}
	for _, r := range group {
		if err := b.request(r); err != nil {
			return err
		}
	}
	if b.entries == 0 || b.bounds == b.c.bounds {
		return nil
	}
	text := b.bounds.encode(b.c.db.groups)
	b.inline += len(boundsKey) + len(text)
	return b.txn.Set(boundsKey, text)
}

// request adds all mutations of a request.
func (b *batch) request(r *request) error {
	for i := range r.plan.ops {
		o := &r.plan.ops[i]
		ts := o.stamp(r.commitTS)
		var err error
		if o.group.Latest {
			err = b.latestOp(o, ts)
		} else {
			err = b.versionedOp(r.plan.ops[:i], o, ts, r.commitTS)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) versionedOp(before []op, o *op, ts, commitTS uint64) error {
	switch o.Op {
	case store.Put:
		return b.put(o, appendTS(o.head, ts), ts) // into the room after the head
	case store.Delete:
		return b.remove(o, appendTS(o.head, ts), ts)
	}
	for _, v := range o.versions {
		if err := b.removeUpTo(o, v, ts); err != nil {
			return err
		}
	}
	for i, left := 0, o.undo; left > 0 && i < len(before); i++ { // puts of the same request
		e := &before[i]
		if e.column != o.column || e.Op != store.Put {
			continue
		}
		left--
		if !bytes.Equal(e.head, o.head) {
			continue // another column with the same hash
		}
		if err := b.removeUpTo(o, e.stamp(commitTS), ts); err != nil {
			return err
		}
	}
	return nil
}

// removeUpTo removes a version of o's column, unless it is newer than ts. Its key is a new slice,
// because Badger keeps it.
func (b *batch) removeUpTo(o *op, version, ts uint64) error {
	if version > ts {
		return nil
	}
	return b.remove(o, appendTS(o.head[:len(o.head):len(o.head)], version), version)
}

func (b *batch) latestOp(o *op, ts uint64) error {
	kept, found, err := b.keptBy(o, ts)
	if err != nil {
		return err
	}
	switch {
	case o.Op == store.Put && found && kept > ts:
		return nil
	case o.Op == store.Put:
		b.keep(o, ts, true)
		return b.put(o, o.head, ts)
	case !found, o.Op == store.Delete && kept != ts, kept > ts:
		return nil
	}
	b.keep(o, 0, false)
	return b.remove(o, o.head, ts)
}

// keep records the state of a column after this group.
func (b *batch) keep(o *op, ts uint64, found bool) {
	if !b.lone {
		b.latest.put(o.column, o.head, ts, found)
	}
}

// keptBy returns the cell that a Latest group keeps, as far as it matters for a
// mutation at ts.
func (b *batch) keptBy(o *op, ts uint64) (kept uint64, found bool, err error) {
	if l := b.latest.of(o.column, o.head); l != nil {
		return l.ts, l.found, nil
	}
	if set := b.c.residents[o.group.number]; set != nil && !set.lost {
		kept, found = set.cells[string(o.head)]
		return kept, found, nil
	}
	if o.Op == store.Put && b.c.db.newest.Of(o.group.number, o.column) <= ts {
		return 0, false, nil // nothing newer there: the put wins
	}
	return b.rd.latestTS(o.head)
}

// prepare makes room for the values of a group, and counts its operations on Latest
// groups.
func (b *batch) prepare(group []*request) (err error) {
	bytes, long, latest := 0, 0, 0
	for _, r := range group {
		for i := range r.plan.ops {
			o := &r.plan.ops[i]
			switch {
			case o.Op != store.Put:
			case b.c.db.isLong(o.group, o.Value):
				bytes += pointerBytes
				long += len(o.Value)
			default:
				bytes += tsBytes + len(o.Value)
			}
			if o.group.Latest {
				latest++
			}
		}
	}
	b.lone = latest == 1
	b.values = b.c.planner.valueBuffer(bytes)
	if long > 0 {
		b.long = b.c.planner.longBuffer(long)
		b.blob.file, b.blob.offset, err = b.c.db.blobs.next(long)
	}
	return err
}

// pointTo collects a long value for a blob file, and appends its pointer to dst.
func (b *batch) pointTo(dst, value []byte) []byte {
	p := b.blob
	p.length, p.sum = uint32(len(value)), blobSum(value)
	b.long = append(b.long, value...)
	b.blob.offset += p.length
	return p.append(dst)
}

func (b *batch) put(o *op, key []byte, ts uint64) error {
	start := len(b.values)
	if b.c.db.isLong(o.group, o.Value) {
		b.values = b.pointTo(b.values, o.Value)
		b.bytes += len(o.Value)
		b.c.waste.put(o.group, o.Column, len(o.Value))
	} else {
		b.values = appendValue(b.values, o.group.Latest, ts, o.Value)
	}
	value := b.values[start:len(b.values):len(b.values)]
	b.large = b.large || len(value) >= logValueBytes
	b.note(o, key, ts, true)
	if k := b.c.db.known.Load(); k != nil && o.group.pointRead() {
		k.addColumn(o.head)
	}
	bound := b.c.db.newest.Note(o.group.number, o.column, ts)
	if h := b.c.db.hints; h != nil && o.group.pointRead() {
		h.Raise(h.Hash(o.column, o.head), ts, bound, b.c.seq+1, o.Value)
	}
	b.bounds.raise(o.group.number, ts)
	b.count(len(key) + len(value))
	return b.txn.Set(key, value)
}

func (b *batch) remove(o *op, key []byte, ts uint64) error {
	if h := b.c.db.hints; h != nil && o.group.pointRead() {
		h.Drop(h.Hash(o.column, o.head), ts, b.c.seq+1)
	}
	if n := b.c.waste.removed(o.group, o.Column); n > 0 {
		b.c.db.blobs.waste.Add(n)
	}
	b.note(o, key, 0, false)
	b.count(len(key))
	return b.txn.Delete(key)
}

func (b *batch) count(n int) {
	b.entries++
	b.bytes += n
	b.inline += n
}

func (b *batch) note(o *op, key []byte, ts uint64, put bool) {
	if set := b.c.residents[o.group.number]; set != nil {
		b.effects = append(b.effects, effect{set: set, key: key, ts: ts, put: put})
	}
}

// done brings the resident sets up to date after the transaction was written.
func (b *batch) done() {
	for _, set := range b.c.residents {
		if set != nil {
			set.recover()
		}
	}
	for i := range b.effects {
		e := &b.effects[i]
		if e.put {
			e.set.lastPut = b.c.seq
			e.set.put(e.key, e.ts)
		} else {
			e.set.remove(e.key)
		}
	}
}
