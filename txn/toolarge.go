package txn

import (
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// ErrTooLarge means that the transaction, or a single cell of it, is too large to be committed.
// Nothing was written, and the same transaction would fail again: its author must split it. It
// matches store.ErrTooLarge as well.
var ErrTooLarge = fmt.Errorf("txn: transaction too large: %w", store.ErrTooLarge)

// maxCells bounds the cells of a two-phase commit. Each cell takes one write to lock and
// another to undo, so a much larger commit would take minutes, and so would its cleanup.
// Split such a transaction into parts.
const maxCells = 1 << 16

// checkSize refuses a transaction that two phases cannot commit, before the first lock is
// written. Finding out half-way would cost a write and an undo for every cell before the
// one that is too large.
//
// A transaction that fits into one batch is not checked here: the engine measures it.
func (c *committing) checkSize() error {
	if n, most := len(c.others)+1, c.t.db.opts.cells; n > most {
		return fmt.Errorf("%w: it writes %d cells, and the limit is %d; split it", ErrTooLarge, n, most)
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
		return fmt.Errorf("%w: %s: a value of %d bytes, and the limit is %d", ErrTooLarge, w.cell.short(), len(w.value), limits.MaxValueBytes)
	case len(w.cell.Row) > limits.MaxRowBytes:
		return fmt.Errorf("%w: %s: a row key of %d bytes, and the limit is %d", ErrTooLarge, w.cell.short(), len(w.cell.Row), limits.MaxRowBytes)
	}
	return nil
}

// short is the cell for messages, with a long row cut off.
func (c Cell) short() string {
	const show = 80
	if len(c.Row) > show {
		return fmt.Sprintf("%q… %s", c.Row[:show], c.Column)
	}
	return fmt.Sprintf("%q %s", c.Row, c.Column)
}

// asTooLarge makes an error of the store about size match ErrTooLarge.
func asTooLarge(err error) error {
	if errors.Is(err, store.ErrTooLarge) && !errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}
