package badgerdb

import (
	"bytes"
	"context"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// errStop ends a visit without an error.
var errStop = errors.New("stop")

// cursor iterates over the cells of one group in a range of timestamps, the newest n of
// each column.
type cursor struct {
	it     *badger.Iterator
	group  *group
	lo, hi uint64
	newest int // 0 for all

	ctx context.Context // ends a visit; nil: nothing does

	// greatest, if set, receives the first timestamp of each column that the cursor
	// finds.
	greatest func(ts uint64)

	head    []byte // of the column the cursor is in
	kept    int    // versions of it that were passed on
	passed  int    // versions passed over since the last seek
	scratch []byte
	steps   int
}

// seekAfter is how many unwanted versions are stepped over before a seek, which
// costs several steps.
const seekAfter = 8

// visit calls fn for the wanted cells from start on whose keys have the prefix.
// head is the key without timestamp; it and item are valid until fn returns. fn
// ends the visit with an error; errStop is turned into nil.
func (c *cursor) visit(start, prefix []byte, fn func(head []byte, ts uint64, item *badger.Item) error) error {
	step := c.versioned
	if c.group.Latest {
		step = c.latest
	}
	for c.it.Seek(start); c.it.ValidForPrefix(prefix); {
		err := step(fn)
		if c.steps++; err == nil && c.ctx != nil && c.steps%ctxEvery == 0 {
			err = c.ctx.Err()
		}
		if errors.Is(err, errStop) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) latest(fn func([]byte, uint64, *badger.Item) error) error {
	item := c.it.Item()
	key := item.Key()
	var ts uint64
	err := item.Value(func(stored []byte) (err error) {
		ts, _, err = splitLatest(stored, key)
		return err
	})
	if err != nil {
		return valueError(err)
	}
	if ts >= c.lo && ts <= c.hi {
		if err := fn(key, ts, item); err != nil {
			return err
		}
	}
	c.it.Next()
	return nil
}

func (c *cursor) versioned(fn func([]byte, uint64, *badger.Item) error) error {
	item := c.it.Item()
	head, ts, err := splitTS(item.Key())
	if err != nil {
		return err
	}
	if !bytes.Equal(head, c.head) {
		c.head = append(c.head[:0], head...)
		c.kept, c.passed = 0, 0
		if c.greatest != nil {
			c.greatest(ts)
		}
	}
	switch {
	case ts > c.hi:
		c.skip(c.hi)
	case ts < c.lo, c.newest > 0 && c.kept >= c.newest:
		c.skipColumn()
	default:
		c.kept++
		if err := fn(head, ts, item); err != nil {
			return err
		}
		c.it.Next()
	}
	return nil
}

// skip advances towards the version of this column at ts.
func (c *cursor) skip(ts uint64) {
	if c.passOver() {
		c.scratch = appendTS(append(c.scratch[:0], c.head...), ts)
		c.it.Seek(c.scratch)
	}
}

// skipColumn advances towards the next column.
func (c *cursor) skipColumn() {
	if c.passOver() {
		c.scratch = append(appendTS(append(c.scratch[:0], c.head...), 0), 0) // just after the oldest possible
		c.it.Seek(c.scratch)
	}
}

// passOver passes over one version, unless so many were passed over that a seek is due.
func (c *cursor) passOver() (seek bool) {
	if c.passed++; c.passed < seekAfter {
		c.it.Next()
		return false
	}
	c.passed = 0
	return true
}

// cellValueTo appends the value of a cell to a slice, or to a new one if that is nil.
func (r *reader) cellValueTo(to []byte, g *group, item *badger.Item, head []byte) (value []byte, err error) {
	err = item.Value(func(stored []byte) (err error) {
		long := false
		if g.Latest {
			_, value, err = splitLatest(stored, head)
		} else {
			value, long, err = r.db.blobs.value(to, stored, head)
		}
		switch {
		case long || err != nil:
		case to == nil:
			value = bytes.Clone(value)
		default:
			value = append(to, value...)
		}
		return err
	})
	if err != nil {
		return nil, valueError(err)
	}
	return value, nil
}

func valueError(err error) error {
	if errors.Is(err, store.ErrCorrupt) {
		return err
	}
	return errs.Run("reading a value", err)
}
