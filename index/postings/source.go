package postings

import (
	"context"
	"database/sql"
	"errors"
)

// source reads the shadow tables.
type source struct {
	table string
	query Query
}

// Queries returns the texts of the queries that an [Index] of this table runs.
func Queries(table string) []string { return []string{blocksSQL(table), seekSQL(table)} }

func blocksSQL(table string) string {
	return "SELECT id, block FROM " + table + "_data WHERE id BETWEEN ? AND ? ORDER BY id"
}

// seekSQL finds the page of each segment in the same way as FTS5: the highest row of the
// b-tree that is not above the key, or page 1 if all are above it. The lowest bit of pgno
// has another meaning.
func seekSQL(table string) string {
	return `SELECT d.id, d.block FROM (SELECT j.value AS segment,
			coalesce((SELECT pgno>>1 FROM ` + table + `_idx WHERE segid=j.value AND term<=?2 ORDER BY term DESC LIMIT 1), 1) AS page FROM json_each(?1) j) x
		CROSS JOIN ` + table + `_data d ON d.id=(x.segment<<37)+x.page`
}

// blocks calls fn with the rows first to last of the data, ascending, until fn says that it
// needs no more. The arguments of fn are valid until it returns.
func (s *source) blocks(ctx context.Context, first, last int64, fn func(id int64, block []byte) (more bool, err error)) error {
	rows, err := s.query(ctx, blocksSQL(s.table), first, last)
	return each(rows, err, fn)
}

// seek calls fn with the leaf page of each segment (a JSON list of numbers) that would have
// key. It leaves out a page that does not exist.
func (s *source) seek(ctx context.Context, segments string, key []byte, fn func(id int64, block []byte) (more bool, err error)) error {
	rows, err := s.query(ctx, seekSQL(s.table), segments, key)
	return each(rows, err, fn)
}

func each(rows *sql.Rows, err error, fn func(id int64, block []byte) (more bool, err error)) error {
	if err != nil {
		return err
	}
	for more := true; more && rows.Next(); {
		var id int64
		var block sql.RawBytes
		if err = rows.Scan(&id, &block); err == nil {
			more, err = fn(id, block)
		}
		if err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
