package counts

import (
	"context"
	"errors"
	"iter"

	"github.com/webindexer/indexer/txn"
)

// An item is what one key adds to the counts.
type item struct {
	key   string
	cells int // that were read
	tally tally
}

// errStopped ends a scan whose caller wants no more.
var errStopped = errors.New("stopped")

// scan makes items of the rows of a group, one for each key.
type scan struct {
	group  string
	column string                                  // whose values are read; "": none
	key    func(row []byte) ([]byte, error)        // of a row; nil: the row itself
	add    func(it *item, name, data []byte) error // adds a cell; txn.ErrStop makes it the last item
}

// items yields the items of the rows in a range.
func (s scan) items(ctx context.Context, tx *txn.Txn, in span) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		var it item
		err := tx.ScanCells(ctx, s.group, in.from, in.to, s.column, func(row, name, data []byte) error {
			k := row
			if s.key != nil {
				var err error
				if k, err = s.key(row); err != nil {
					return err
				}
			}
			if it.cells == 0 || string(k) != it.key {
				if it.cells > 0 && !yield(it, nil) {
					return errStopped
				}
				it = item{key: string(k)}
			}
			it.cells++
			return s.add(&it, name, data)
		})
		switch {
		case errors.Is(err, errStopped):
		case err != nil:
			yield(item{}, err)
		case it.cells > 0:
			yield(it, nil)
		}
	}
}

// merge yields the items of several scans. It unites those with the same key.
func merge(scans ...iter.Seq2[item, error]) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		heads := make([]*head, 0, len(scans))
		for _, scan := range scans {
			next, stop := iter.Pull2(scan)
			defer stop()
			h := &head{next: next}
			h.advance()
			heads = append(heads, h)
		}
		for {
			least := leastOf(heads)
			if least == nil {
				return
			}
			it, err := least.item, least.err
			least.advance()
			for _, h := range heads {
				if err == nil && h.ok && h.err == nil && h.item.key == it.key {
					it.cells += h.item.cells
					it.tally.add(&h.item.tally)
					h.advance()
				}
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// head is the first item of a scan that is not merged yet.
type head struct {
	next func() (item, error, bool)
	item item
	err  error
	ok   bool
}

func (h *head) advance() { h.item, h.err, h.ok = h.next() }

// leastOf returns a head with the least key, or with an error, or nil if all scans have ended.
func leastOf(heads []*head) (least *head) {
	for _, h := range heads {
		if h.ok && (least == nil || h.err != nil || least.err == nil && h.item.key < least.item.key) {
			least = h
		}
	}
	return least
}
