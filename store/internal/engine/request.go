package engine

import (
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// Checker checks mutations before an engine touches anything.
type Checker struct {
	Schema *Schema
	Limits store.Limits
	// Overhead is added to the size of every mutation, in bytes: what an engine
	// spends on a cell besides its row, column and value.
	Overhead int
}

// Row checks one row of a Mutate. AtCommit is an error there.
func (c *Checker) Row(m *store.RowMutation) error {
	if len(m.Absent) > 0 && m.Require != nil {
		return rowError(m.Row, errors.New("store: a mutation takes either Absent or Require"))
	}
	size, err := c.check(m, false)
	if err != nil {
		return err
	}
	return c.batch(size)
}

// Apply checks the rows of one Apply, which takes neither guards nor AtCommit.
func (c *Checker) Apply(rows []store.RowMutation) error {
	for i := range rows {
		if len(rows[i].Absent) > 0 || rows[i].Require != nil {
			return rowError(rows[i].Row, errors.New("store: Apply takes no guards: use Mutate"))
		}
		if err := c.Row(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// Commit checks the rows of one Commit, which share one MaxBatchBytes.
func (c *Checker) Commit(rows []store.RowMutation) error {
	total := 0
	for i := range rows {
		size, err := c.check(&rows[i], true)
		if err != nil {
			return err
		}
		total += size
	}
	return c.batch(total)
}

// Size is what the mutations of a row count towards MaxBatchBytes.
func (c *Checker) Size(m *store.RowMutation) int {
	size := 0
	for i := range m.Mutations {
		mut := &m.Mutations[i]
		size += c.Overhead + len(m.Row) + len(mut.Column) + len(mut.Value)
	}
	return size
}

func (c *Checker) batch(size int) error {
	if size > c.Limits.MaxBatchBytes {
		return fmt.Errorf("%w: batch of %d bytes, at most %d: split it", store.ErrTooLarge, size, c.Limits.MaxBatchBytes)
	}
	return nil
}

func (c *Checker) check(m *store.RowMutation, commit bool) (size int, err error) {
	if len(m.Row) > c.Limits.MaxRowBytes {
		return 0, fmt.Errorf("%w: row key of %d bytes, at most %d: %.40q…", store.ErrTooLarge, len(m.Row), c.Limits.MaxRowBytes, m.Row)
	}
	if err := c.guards(m); err != nil {
		return 0, rowError(m.Row, err)
	}
	for i := range m.Mutations {
		if err := c.mutation(&m.Mutations[i], commit); err != nil {
			return 0, rowError(m.Row, err)
		}
	}
	return c.Size(m), nil
}

func (c *Checker) guards(m *store.RowMutation) error {
	for i := range m.Absent {
		if err := c.guardGroup(m.Absent[i].Group); err != nil {
			return err
		}
	}
	if m.Require != nil {
		return c.guardGroup(m.Require.Group)
	}
	return nil
}

func (c *Checker) guardGroup(name string) error {
	i, err := c.Schema.Group(name)
	if err == nil && c.Schema.Spec(i).OwnTable {
		err = fmt.Errorf("store: locality group %q has OwnTable and takes no part in guards", name)
	}
	return err
}

func (c *Checker) mutation(m *store.Mutation, commit bool) error {
	if _, err := c.Schema.Group(m.Group); err != nil {
		return err
	}
	if len(m.Column) > c.Limits.MaxColumnBytes {
		return fmt.Errorf("%w: column name of %d bytes, at most %d: %.40q…", store.ErrTooLarge, len(m.Column), c.Limits.MaxColumnBytes, m.Column)
	}
	if len(m.Value) > c.Limits.MaxValueBytes {
		return fmt.Errorf("%w: value of %d bytes in column %q, at most %d", store.ErrTooLarge, len(m.Value), m.Column, c.Limits.MaxValueBytes)
	}
	if m.Op > store.DeleteUpTo {
		return fmt.Errorf("store: unknown operation %d on column %q", m.Op, m.Column)
	}
	if m.TS == store.AtCommit {
		if !commit {
			return fmt.Errorf("store: column %q: AtCommit has a meaning only in Commit", m.Column)
		}
	} else if m.Op == store.Put && m.TS > c.Limits.MaxTS {
		return fmt.Errorf("%w: timestamp %d of column %q, at most %d", store.ErrTooLarge, m.TS, m.Column, c.Limits.MaxTS)
	}
	return nil
}

func rowError(row []byte, err error) error {
	const show = 80
	if len(row) > show {
		return fmt.Errorf("row %q…: %w", row[:show], err)
	}
	return fmt.Errorf("row %q: %w", row, err)
}
