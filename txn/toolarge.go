package txn

import (
	"errors"
	"fmt"

	"indexer/store"
)

// ErrTooLarge: the transaction, or a single cell of it, is larger than can be committed.
// Nothing was written, and the same transaction would fail again: whoever made it must
// split it. It matches store.ErrTooLarge as well.
var ErrTooLarge = fmt.Errorf("txn: transaction too large: %w", store.ErrTooLarge)

// maxCells bounds the cells of a two-phase commit. Each is locked by a write of its own,
// and undone by another, so a commit of many more takes minutes, and so does the
// cleaning up after it. Whoever writes that much can do it in parts.
const maxCells = 1 << 16

// checkSize refuses a transaction that the two phases cannot bring to the table, before
// the first lock is written. To find out half-way costs a write and an undo for every
// cell before the one that is too large.
//
// A transaction that fits into one batch does not come here: the engine measures that.
func (c *committing) checkSize() error {
	if n, most := len(c.others)+1, c.t.db.opts.cells; n > most {
		return fmt.Errorf("%w: it writes %d cells, at most %d: split it", ErrTooLarge, n, most)
	}
	limits := c.t.db.table.Limits()
	for _, w := range append(c.others[:len(c.others):len(c.others)], c.primary) {
		if err := w.checkSize(limits); err != nil {
			return err
		}
	}
	return nil
}

func (w *write) checkSize(limits store.Limits) error {
	switch {
	case len(w.value) > limits.MaxValueBytes:
		return fmt.Errorf("%w: %s: value of %d bytes, at most %d", ErrTooLarge, w.cell.short(), len(w.value), limits.MaxValueBytes)
	case len(w.cell.Row) > limits.MaxRowBytes:
		return fmt.Errorf("%w: %s: row key of %d bytes, at most %d", ErrTooLarge, w.cell.short(), len(w.cell.Row), limits.MaxRowBytes)
	}
	return nil
}

// short is the cell for messages, whatever the length of its row.
func (c Cell) short() string {
	const show = 80
	if len(c.Row) > show {
		return fmt.Sprintf("%q… %s", c.Row[:show], c.Column)
	}
	return fmt.Sprintf("%q %s", c.Row, c.Column)
}

// named gives an error of the store for something too large the name of ErrTooLarge.
func named(err error) error {
	if errors.Is(err, store.ErrTooLarge) && !errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}
