package txnbench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// column is the one column of the cells that are read and written.
var column = txn.Column{Group: "app", Name: "c"}

// cells is a set of cells that raw Badger and our transactions both hold: the
// same keys, but for what each needs around them, and the same values.
type cells struct {
	rows []string
	keys [][]byte // of raw Badger: row and column
	size int      // of a value
	data []byte   // random bytes, from which values are cut: they do not compress
}

func newCells(n, size int) *cells {
	c := &cells{size: size, data: make([]byte, size+1<<16)}
	rng := rand.NewChaCha8([32]byte{8})
	_, _ = rng.Read(c.data) // never fails
	for i := range n {
		row := fmt.Sprintf("com.example.www/page/%08d", uint32(i)*2654435761)
		c.rows = append(c.rows, row)
		c.keys = append(c.keys, []byte(row+"\x00"+column.Name))
	}
	return c
}

// value of a cell: its number, then random bytes. It changes with the source.
func (c *cells) value(i int, rng *rand.Rand) []byte {
	v := make([]byte, c.size)
	copy(v, c.data[rng.IntN(1<<16):])
	binary.BigEndian.PutUint32(v, uint32(i))
	return v
}

// check verifies that a value belongs to the cell.
func (c *cells) check(i int, v []byte) error {
	if len(v) != c.size || binary.BigEndian.Uint32(v) != uint32(i) {
		return fmt.Errorf("cell %d holds %d bytes of another value", i, len(v))
	}
	return nil
}

// holder reads and writes cells: raw Badger, or transactions in a mode.
type holder interface {
	read(ctx context.Context, i int) error
	write(ctx context.Context, i int, value []byte) error
	// load writes many cells at once.
	load(ctx context.Context, from, to int, rng *rand.Rand) error
	close() error
}

// raw is Badger as a program uses it that wants no more than atomic writes: each
// read and each write is a Badger transaction, without conflict detection.
type raw struct {
	cells *cells
	db    *badger.DB
}

func openRaw(dir string, c *cells, o badgerdb.Options) (*raw, error) {
	db, err := badger.Open(badgerdb.BadgerOptions(filepath.Join(dir, "raw"), o))
	if err != nil {
		return nil, fmt.Errorf("open raw Badger: %w", err)
	}
	return &raw{c, db}, nil
}

func (r *raw) read(_ context.Context, i int) error {
	return r.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get(r.cells.keys[i])
		if err != nil {
			return err
		}
		v, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		return r.cells.check(i, v)
	})
}

func (r *raw) write(_ context.Context, i int, value []byte) error {
	return r.db.Update(func(tx *badger.Txn) error { return tx.Set(r.cells.keys[i], value) })
}

func (r *raw) load(_ context.Context, from, to int, rng *rand.Rand) error {
	b := r.db.NewWriteBatch()
	defer b.Cancel()
	for i := from; i < to; i++ {
		if err := b.Set(r.cells.keys[i], r.cells.value(i, rng)); err != nil {
			return err
		}
	}
	return b.Flush()
}

func (r *raw) close() error { return r.db.Close() }

// ours is our transactions, on the engine that users run.
type ours struct {
	cells *cells
	table *badgerdb.DB
	db    *txn.DB
}

func openOurs(ctx context.Context, dir string, c *cells, mode txn.Mode, o badgerdb.Options) (*ours, error) {
	table, db, err := openDB(ctx, filepath.Join(dir, fmt.Sprint("mode", mode)), txn.Options{Mode: mode}, o)
	if err != nil {
		return nil, err
	}
	return &ours{c, table, db}, nil
}

// openDB opens transactions on a table with the group of column, and what a
// pipeline of observers needs.
func openDB(ctx context.Context, dir string, opts txn.Options, o badgerdb.Options) (*badgerdb.DB, *txn.DB, error) {
	table, err := badgerdb.Open(dir, txn.Groups(column.Group, notify.DeadGroup), o)
	if err != nil {
		return nil, nil, err
	}
	db, err := txn.Open(ctx, table, opts)
	if err != nil {
		return nil, nil, errors.Join(err, table.Close())
	}
	return table, db, nil
}

// withDB runs fn with transactions on a table of its own.
func withDB(ctx context.Context, dir string, opts txn.Options, o badgerdb.Options, fn func(*txn.DB) error) error {
	table, db, err := openDB(ctx, filepath.Join(dir, "table"), opts, o)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close(), table.Close())
}

func (o *ours) read(ctx context.Context, i int) error {
	tx, err := o.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	v, err := tx.Get(ctx, o.cells.rows[i], column)
	if err != nil {
		return err
	}
	return o.cells.check(i, v.Data)
}

func (o *ours) write(ctx context.Context, i int, value []byte) error {
	_, err := o.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(o.cells.rows[i], column, value)
		return nil
	})
	return err
}

func (o *ours) load(ctx context.Context, from, to int, rng *rand.Rand) error {
	_, err := o.db.Run(ctx, func(tx *txn.Txn) error {
		for i := from; i < to; i++ {
			tx.Set(o.cells.rows[i], column, o.cells.value(i, rng))
		}
		return nil
	})
	return err
}

func (o *ours) close() error { return errors.Join(o.db.Close(), o.table.Close()) }

// fill writes all cells, some hundred in a transaction.
func (c *cells) fill(ctx context.Context, h holder) error {
	per := min(max((1<<20)/c.size, 1), 500)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for from := 0; from < len(c.rows); from += per {
		g.Go(func() error {
			return h.load(ctx, from, min(from+per, len(c.rows)), rand.New(rand.NewPCG(uint64(from), 1)))
		})
	}
	return g.Wait()
}
