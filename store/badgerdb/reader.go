package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/internal/engine"
)

// reader reads at one sequence number. Many goroutines may use it: in a Badger
// transaction that only reads, Get and NewIterator change nothing but a count of
// iterators, atomically. The transaction is never discarded. Where the caller chooses
// the timestamps, discarding such a transaction does nothing but forbid its use.
//
// Most selectors name one cell at most, which is a Get (point.go). For the others it
// makes an iterator per call and group, with the row (or the column) as
// Badger's prefix, rather than keep one iterator for many rows: an iterator with
// that prefix stops at the end of the row, whereas one without would first search
// for the next two live keys, which in a queue-like group may lie after a million
// deleted ones. It also holds no memtable longer than the call. A new iterator with
// one seek costs about as much as one or two Gets.
type reader struct {
	db    *DB
	txn   *badger.Txn
	empty groupSet
}

// item returns the item that is stored under a key, or nil if there is none.
func (r *reader) item(key []byte) (*badger.Item, error) {
	if err := r.db.verify.needs(key); err != nil {
		return nil, err
	}
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, errs.Run("reading a cell", err)
	}
	return item, nil
}

// iterator returns an iterator over the keys with a prefix. The iterator keeps the
// prefix.
func (r *reader) iterator(prefix []byte) (*badger.Iterator, error) {
	if err := r.db.verify.needs(prefix); err != nil {
		return nil, err
	}
	return r.txn.NewIterator(badger.IteratorOptions{Prefix: prefix}), nil
}

func (db *DB) readerAt(seq uint64, empty groupSet) reader {
	return reader{db: db, txn: db.badger.NewTransactionAt(seq, false), empty: empty}
}

// read returns what the selectors name, for each selector in turn.
func (r *reader) read(ctx context.Context, row []byte, sel []store.Selector) ([]store.Cell, error) {
	var cells []store.Cell
	p := points{r: r, row: row}
	for i := range sel {
		number, err := r.db.schema.Group(sel[i].Group)
		if err != nil {
			return nil, err
		}
		g := &r.db.groups[number]
		lo, hi := engine.TSRange(sel[i].MinTS, sel[i].MaxTS)
		if lo > hi || r.empty.has(g.number) {
			continue
		}
		c, found, sure, err := p.read(g, &sel[i], lo, hi)
		switch {
		case err != nil:
			return nil, err
		case !sure:
			if err := r.db.schema.Selectors(sel[i:]); err != nil {
				return nil, err
			}
			return r.walk(ctx, row, sel, i, cells)
		case found:
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// walk continues read from a selector that needs an iterator.
func (r *reader) walk(ctx context.Context, row []byte, sel []store.Selector, from int, cells []store.Cell) ([]store.Cell, error) {
	its := iterators{r: r, row: row, sel: sel, key: make([]byte, 0, keyBytes(row, sel))}
	defer its.close()
	own := append(make([]byte, 0, len(row)), row...)
	for i := from; i < len(sel); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g := r.db.group(sel[i].Group)
		err := r.selectCells(&its, g, &sel[i], func(head []byte, ts uint64, item *badger.Item) error {
			c, err := r.makeCell(g, own, its.columnOf(head), ts, item)
			cells = append(cells, c)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// keyBytes is how long the longest key of the selectors is, unless names are escaped.
func keyBytes(row []byte, sel []store.Selector) (n int) {
	for i := range sel {
		n = max(n, len(sel[i].Column))
	}
	return n + len(row) + 1 + 2 + 2 + tsBytes
}

// first returns one cell that the selector names, without its value, or nil.
func (r *reader) first(row []byte, sel store.Selector) (found *store.Cell, err error) {
	sel.Newest = 1
	one := [1]store.Selector{sel}
	its := iterators{r: r, row: row, sel: one[:]}
	defer its.close()
	g := r.db.group(sel.Group)
	err = r.selectCells(&its, g, &one[0], func(head []byte, ts uint64, item *badger.Item) error {
		found = &store.Cell{Group: g.Name, Row: bytes.Clone(row), Column: unescape(its.columnOf(head)), TS: ts}
		return errStop
	})
	return found, err
}

// selectCells calls fn for what one selector names.
func (r *reader) selectCells(its *iterators, g *group, sel *store.Selector, fn func([]byte, uint64, *badger.Item) error) error {
	lo, hi := engine.TSRange(sel.MinTS, sel.MaxTS)
	if lo > hi || r.empty.has(g.number) {
		return nil
	}
	its.key = appendRow(its.key[:0], g.id, its.row)
	its.rowEnd = len(its.key)
	if sel.Prefix {
		its.key = appendEscaped(its.key, sel.Column)
	} else {
		its.key = appendName(its.key, sel.Column)
	}
	switch {
	case sel.Prefix:
		if g.pointRead() && r.lacks(its.key[:its.rowEnd]) {
			return nil
		}
	case g.Latest:
		return r.getLatest(its.key, lo, hi, fn)
	case lo == hi:
		_, err := r.getVersion(its.key, lo, fn)
		return err
	case sel.Newest == 1 && !g.Scanned:
		return r.newest(its, g, lo, hi, fn)
	}
	prefix := its.key
	start := prefix
	if !sel.Prefix {
		start = appendTS(prefix, hi)
		prefix = start[:len(prefix)]
	}
	it, err := its.of(g, prefix)
	if err != nil {
		return err
	}
	c := cursor{it: it, group: g, lo: lo, hi: hi, newest: sel.Newest}
	return c.visit(start, prefix, fn)
}

// getLatest reads one column of a Latest group, by a Get, which Badger's Bloom
// filters make cheap for the usual answer "not there".
func (r *reader) getLatest(key []byte, lo, hi uint64, fn func([]byte, uint64, *badger.Item) error) error {
	item, err := r.item(key)
	if item == nil || err != nil {
		return err
	}
	var ts uint64
	err = item.Value(func(stored []byte) (err error) {
		ts, _, err = splitLatest(stored, key)
		return err
	})
	if err != nil {
		return valueError(err)
	}
	if ts < lo || ts > hi {
		return nil
	}
	if err := fn(key, ts, item); err != nil && !errors.Is(err, errStop) {
		return err
	}
	return nil
}

// has reports whether the cell exists whose key has this head.
func (r *reader) has(g *group, head []byte, ts uint64) (found bool, err error) {
	if g.Latest {
		err = r.getLatest(head, ts, ts, func([]byte, uint64, *badger.Item) error {
			found = true
			return nil
		})
		return found, err
	}
	item, err := r.item(appendTS(bytes.Clone(head), ts))
	return item != nil, err
}

// latestTS returns the timestamp of the cell that a Latest group keeps under key.
func (r *reader) latestTS(key []byte) (ts uint64, found bool, err error) {
	err = r.getLatest(key, 0, store.MaxTS, func(_ []byte, t uint64, _ *badger.Item) error {
		ts, found = t, true
		return nil
	})
	return ts, found, err
}

// versions returns the timestamps of a column of a versioned group up to ts, and
// fails if there are more than limit.
func (r *reader) versions(g *group, head []byte, ts uint64, limit int) (found []uint64, err error) {
	it, err := r.iterator(bytes.Clone(head))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	c := cursor{it: it, group: g, hi: ts}
	err = c.visit(appendTS(bytes.Clone(head), ts), head, func(_ []byte, ts uint64, _ *badger.Item) error {
		if len(found) >= limit {
			return fmt.Errorf("%w: DeleteUpTo on a column with more than %d versions: delete the oldest ones first, by a smaller timestamp", store.ErrTooLarge, limit)
		}
		found = append(found, ts)
		return nil
	})
	return found, err
}

func (r *reader) makeCell(g *group, row, escapedColumn []byte, ts uint64, item *badger.Item) (store.Cell, error) {
	value, err := r.cellValueTo(nil, g, item, item.Key())
	return store.Cell{Group: g.Name, Row: row, Column: unescape(escapedColumn), TS: ts, Value: value}, err
}

// iterators are those of one call: one per group.
type iterators struct {
	r      *reader
	row    []byte
	sel    []store.Selector
	key    []byte // scratch: the key the current selector starts from
	rowEnd int    // where the column starts in it, and in all keys of the row and group
	open   []openIterator
}

type openIterator struct {
	group *group
	it    *badger.Iterator
}

// of returns the iterator of a group. It is bounded to the row, or to prefix if
// no other selector is in the group.
func (its *iterators) of(g *group, prefix []byte) (*badger.Iterator, error) {
	for i := range its.open {
		if its.open[i].group == g {
			return its.open[i].it, nil
		}
	}
	bound := prefix
	if its.selectors(g.Name) > 1 {
		bound = prefix[:its.rowEnd]
	}
	it, err := its.r.iterator(bytes.Clone(bound))
	if err != nil {
		return nil, err
	}
	its.open = append(its.open, openIterator{g, it})
	return it, nil
}

func (its *iterators) selectors(group string) (n int) {
	for i := range its.sel {
		if its.sel[i].Group == group {
			n++
		}
	}
	return n
}

// columnOf returns the escaped column, with its end mark, of a head of this row.
func (its *iterators) columnOf(head []byte) []byte { return head[its.rowEnd:] }

func (its *iterators) close() {
	for i := range its.open {
		its.open[i].it.Close()
	}
}
