package badgerdb

import (
	"bytes"
	"errors"
	"hash/maphash"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/hints"
)

// Reads of at most one cell of one column. Most reads of transactions are of this kind,
// so they use at most one Get, and copy the value only once.

// points reads the cells of one row whose keys are known.
type points struct {
	r   *reader
	row []byte
	buf []byte // what is handed out of row and columns; then the key, as scratch
	own []byte // the row, in buf
}

// read reads the one cell that the selector names, if a Get can tell; otherwise
// sure is false. It does not answer a selector that could name two cells.
func (p *points) read(g *group, sel *store.Selector, lo, hi uint64) (c store.Cell, found, sure bool, err error) {
	exact := g.Latest || lo == hi
	if sel.Prefix || !exact && (sel.Newest != 1 || p.r.db.hints == nil || g.Scanned) {
		return store.Cell{}, false, false, nil
	}
	head := p.head(g, sel.Column)
	ts := lo
	switch {
	case g.Latest:
		ts, c.Value, found, err = p.r.latestCell(head, lo, hi)
	case exact:
		c.Value, found, err = p.r.versionCell(head, lo)
	default:
		h, told := p.r.hinted(head, lo, hi)
		if told != atBound {
			return store.Cell{}, false, told == absent, nil
		}
		ts = h.Bound - 1
		if h.Known {
			c.Value, found = bytes.Clone(h.Short()), true
		} else if c.Value, found, err = p.r.versionCell(head, ts); !found && err == nil {
			return store.Cell{}, false, false, nil
		}
	}
	if err != nil || !found {
		return store.Cell{}, false, true, err
	}
	c.Group, c.Row, c.Column, c.TS = g.Name, p.own, p.column(sel.Column), ts
	return c, true, true, nil
}

// head returns the head of a column's keys, with room for a timestamp, good until
// the next call of a method.
func (p *points) head(g *group, column []byte) []byte {
	if p.buf == nil {
		// Usually one column is handed out. Its key takes as much again.
		p.buf = make([]byte, 0, 2*len(p.row)+2*len(column)+1+2+2+tsBytes)
		p.buf = append(p.buf, p.row...)
		p.own = p.buf[:len(p.row):len(p.row)]
	}
	n := len(p.buf)
	key := appendName(appendRow(p.buf, g.id, p.row), column)
	return key[n:]
}

// column copies a name for the caller. It may overwrite the key.
func (p *points) column(name []byte) []byte {
	n := len(p.buf)
	p.buf = append(p.buf, name...)
	return p.buf[n:len(p.buf):len(p.buf)]
}

// get reads what is stored under a key; nil if there is nothing. The value belongs
// to the caller.
func (r *reader) get(key []byte) (stored []byte, err error) {
	item, err := r.item(key)
	if item == nil || err != nil {
		return nil, err
	}
	if stored, err = ownValue(item); err != nil {
		return nil, valueError(err)
	}
	if stored == nil {
		return nil, unreadable(key)
	}
	return stored, nil
}

// ownValue returns the value of an item that came from Get, as a slice that belongs
// to the caller. Badger copies a value from a table or a memtable into a buffer that
// belongs to the item alone, so ownValue returns that buffer. A value from the value
// log may be part of a mapped file, so ownValue copies it.
func ownValue(item *badger.Item) (stored []byte, err error) {
	err = item.Value(func(v []byte) error {
		if stored = v; len(v) >= logValueBytes {
			stored = bytes.Clone(v)
		}
		return nil
	})
	return stored, err
}

// versionCell reads the version at exactly ts of the column with this head, which
// has room for the timestamp.
func (r *reader) versionCell(head []byte, ts uint64) (value []byte, found bool, err error) {
	stored, err := r.get(appendTS(head, ts))
	if stored == nil || err != nil {
		return nil, false, err
	}
	value, _, err = r.db.blobs.value(nil, stored, head)
	return value, true, err
}

// latestCell reads the cell that a Latest group keeps under key, if its timestamp is
// from lo to hi.
func (r *reader) latestCell(key []byte, lo, hi uint64) (ts uint64, value []byte, found bool, err error) {
	stored, err := r.get(key)
	if stored == nil || err != nil {
		return 0, nil, false, err
	}
	ts, value, err = splitLatest(stored, key)
	return ts, value, err == nil && ts >= lo && ts <= hi, err
}

// getVersion is versionCell for callers that want the item. It may extend head's slice.
func (r *reader) getVersion(head []byte, ts uint64, fn func([]byte, uint64, *badger.Item) error) (found bool, err error) {
	item, err := r.item(appendTS(head, ts))
	if item == nil || err != nil {
		return false, err
	}
	if err := fn(head, ts, item); err != nil && !errors.Is(err, errStop) {
		return true, err
	}
	return true, nil
}

// verdict is what memory tells about the newest version of a column in a range of timestamps.
type verdict uint8

const (
	untold  verdict = iota // look for it
	absent                 // there is none
	atBound                // it is at the bound of the hint; look for it if nothing is there
)

// hinted asks memory for the newest version from lo to hi of the column with this head. Unless
// the verdict is absent, the hint names the column, even if nothing else is known.
func (r *reader) hinted(head []byte, lo, hi uint64) (h hints.Hint, told verdict) {
	first := maphash.Bytes(r.db.seed, head)
	if r.db.newest.Never(first) {
		return h, absent
	}
	column := r.db.hints.Hash(first, head)
	h, ok := r.db.hints.Of(column, r.txn.ReadTs())
	h.Column = column
	switch {
	case !ok && r.lacks(head):
		return h, absent
	case !ok || h.Bound > hi+1: // older ones may be wanted
		return h, untold
	case h.Bound <= lo: // nothing from lo on
		return h, absent
	}
	return h, atBound
}

// newest reads the newest version from lo to hi of the column whose head is in
// its.key: at the place that the hints tell, or otherwise with an iterator,
// which leaves a hint behind.
func (r *reader) newest(its *iterators, g *group, lo, hi uint64, fn func([]byte, uint64, *badger.Item) error) error {
	head := its.key
	var h hints.Hint
	if r.db.hints != nil {
		var told verdict
		switch h, told = r.hinted(head, lo, hi); told {
		case absent:
			return nil
		case atBound:
			if found, err := r.getVersion(head, h.Bound-1, fn); found || err != nil {
				return err
			}
		}
	}
	if r.lacks(head) {
		return nil
	}
	// From the greatest timestamp on, not from hi: the hint must bound them all.
	its.key = appendTS(head, store.MaxTS)
	prefix := its.key[:len(head)]
	it, err := its.of(g, prefix)
	if err != nil {
		return err
	}
	c := cursor{it: it, group: g, lo: lo, hi: hi, newest: 1}
	met := hints.Hint{Column: h.Column, Seq: r.txn.ReadTs()}
	c.greatest = func(ts uint64) { met.Bound = ts + 1 }
	err = c.visit(its.key, prefix, func(head []byte, ts uint64, item *badger.Item) error {
		if ts+1 == met.Bound && r.db.hints != nil {
			if err := learn(&met, item); err != nil {
				return valueError(err)
			}
		}
		if err := fn(head, ts, item); err != nil {
			return err
		}
		return errStop
	})
	if met.Bound == 0 && err == nil {
		r.db.foundNothing()
	}
	if r.db.hints != nil && err == nil {
		r.db.hints.Fill(met)
	}
	return err
}

// learn keeps the value of an item in the hint of its column, if the value is short.
func learn(h *hints.Hint, item *badger.Item) error {
	if item.EstimatedSize()-int64(len(item.Key())) > 1+hints.MaxValueBytes { // before anything is copied
		return nil
	}
	return item.Value(func(stored []byte) error {
		if _, long := parsePointer(stored); long {
			return nil
		}
		value, err := splitPlain(stored, item.Key())
		if err == nil {
			h.Keep(value)
		}
		return err
	})
}
