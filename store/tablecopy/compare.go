package tablecopy

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/store"
)

// Sum describes the cells of a group.
type Sum struct {
	Cells int64
	Bytes int64  // of keys and values
	Hash  uint64 // of everything, in order
}

// compare scans both tables.
func (c *copying) compare(ctx context.Context) (Result, error) {
	result := Result{}
	for _, g := range c.order() {
		want, err := c.sum(ctx, c.from, g)
		if err != nil {
			return nil, fmt.Errorf("compare group %q of the source: %w", g, err)
		}
		got, err := c.sum(ctx, c.to, g)
		if err != nil {
			return nil, fmt.Errorf("compare group %q of the copy: %w", g, err)
		}
		if got != want {
			return nil, fmt.Errorf("store: group %q has %d cells with %d bytes, and the copy has %d with %d, or different ones: one of the tables was written to during the copy; empty the destination and copy again",
				g, want.Cells, want.Bytes, got.Cells, got.Bytes)
		}
		result[g] = got
	}
	return result, nil
}

// sum leaves out the progress of the copy, and what Options.Skip names.
func (c *copying) sum(ctx context.Context, table store.Reader, group string) (s Sum, err error) {
	hash := xxhash.New()
	var buffer []byte
	add := func(cell store.Cell) error {
		if bytes.Equal(cell.Row, progressRow) && bytes.Equal(cell.Column, progressColumn) || c.opts.Skip != nil && c.opts.Skip(cell) {
			return nil
		}
		buffer = buffer[:0]
		for _, field := range [][]byte{cell.Row, cell.Column, cell.Value} {
			buffer = binary.AppendUvarint(buffer, uint64(len(field)))
			buffer = append(buffer, field...)
			s.Bytes += int64(len(field))
		}
		_, err := hash.Write(binary.BigEndian.AppendUint64(buffer, cell.TS))
		s.Cells++
		return err
	}
	_, err = table.Scan(ctx, store.Range{Group: group, Borrowed: true}, add)
	s.Hash = hash.Sum64()
	return s, err
}
