package badgerdb

import (
	"errors"
	"hash/maphash"

	"github.com/dgraph-io/badger/v4"

	"indexer/store"
)

// Reads of one version of one column of a versioned group.

// getVersion reads the version at exactly ts of the column with this head, whose
// slice it may extend.
func (r *reader) getVersion(head []byte, ts uint64, fn func([]byte, uint64, *badger.Item) error) (found bool, err error) {
	item, err := r.txn.Get(appendTS(head, ts))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, runError("reading a cell", err)
	}
	if err := fn(head, ts, item); err != nil && !errors.Is(err, errStop) {
		return true, err
	}
	return true, nil
}

// newest reads the newest version from lo to hi of the column whose head is in
// its.key: at the place that the hints tell, else by an iterator, which leaves a
// hint behind.
func (r *reader) newest(its *iterators, g *group, lo, hi uint64, fn func([]byte, uint64, *badger.Item) error) error {
	head := its.key
	var column columnHash
	if h := r.db.hints; h != nil {
		column = h.hash(maphash.Bytes(r.db.seed, head), head)
		bound, ok := h.of(column, r.txn.ReadTs())
		switch {
		case !ok || bound > hi+1: // older ones may be wanted
		case bound <= lo: // nothing from lo on
			return nil
		default:
			if found, err := r.getVersion(head, bound-1, fn); found || err != nil {
				return err
			}
		}
	}
	// From the greatest timestamp on, not from hi: the hint must bound them all.
	its.key = appendTS(head, store.MaxTS)
	prefix := its.key[:len(head)]
	c := cursor{it: its.of(g, prefix), group: g, lo: lo, hi: hi, newest: 1}
	bound := uint64(0)
	c.greatest = func(ts uint64) { bound = ts + 1 }
	err := c.visit(its.key, prefix, func(head []byte, ts uint64, item *badger.Item) error {
		if err := fn(head, ts, item); err != nil {
			return err
		}
		return errStop
	})
	if h := r.db.hints; h != nil && err == nil {
		h.fill(column, bound, r.txn.ReadTs())
	}
	return err
}
