package export

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// The limits of a row group in rows and in bytes before compression. Memory holds one row
// group at a time.
const (
	rowsInGroup  = 1 << 17
	bytesInGroup = 64 << 20
)

type parquetSink[T any] struct {
	out   *parquet.GenericWriter[T]
	size  func(*T) int
	rows  int
	bytes int
	long  int // number of the column of long texts; -1: there is none
}

// NewParquetLinks writes links as Parquet.
func NewParquetLinks(w io.Writer) Sink[Link] { return newParquet(w, linkSize, "") }

func linkSize(l *Link) int { return entryBytes + len(l.Source) + len(l.Target) + len(l.Anchor) }

// newParquet returns a writer of records. long names the column of long texts, if there is one.
//
// With statistics, the header of each page has the least and the greatest value of the page, each
// twice. Apache Arrow refuses headers of more than 16 MiB: a text of 4 MiB would be too long. The
// footer has the bounds of row groups, but none of the long texts, and the column index has those of
// pages, cut.
func newParquet[T any](w io.Writer, size func(*T) int, long string) *parquetSink[T] {
	out := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd), parquet.DataPageStatistics(false), parquet.SkipPageBounds(long), parquet.CreatedBy("indexer", "", ""))
	p := &parquetSink[T]{out: out, size: size, long: -1}
	if leaf, ok := out.Schema().Lookup(long); ok {
		p.long = leaf.ColumnIndex
	}
	return p
}

func (p *parquetSink[T]) Write(record *T) error {
	if _, err := p.out.Write([]T{*record}); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	p.rows++
	p.bytes += p.size(record)
	if p.rows < rowsInGroup && p.bytes < bytesInGroup {
		return nil
	}
	return p.flush()
}

// flush ends a row group.
func (p *parquetSink[T]) flush() error {
	p.rows, p.bytes = 0, 0
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	p.cutBounds()
	return nil
}

// aboveAll is greater than all texts in UTF-8.
var aboveAll = []byte{0xff}

// cutBounds corrects the column index of the last row group, which the writer keeps until Close. Its
// values are prefixes of bounds, and keep these bounds in memory: of a text that is a page of its own,
// all of it, twice. The bounds of long texts are empty, because they were skipped. As the upper bound,
// that would be wrong. (The library promises File only after Close; tests check that it serves before.)
func (p *parquetSink[T]) cutBounds() {
	for column, c := range p.out.File().ColumnIndexes() {
		for page := range c.MaxValues {
			c.MinValues[page], c.MaxValues[page] = bytes.Clone(c.MinValues[page]), bytes.Clone(c.MaxValues[page])
			if column == p.long {
				c.MaxValues[page] = aboveAll
			}
		}
	}
}

func (p *parquetSink[T]) Close() error {
	if p.rows > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if err := p.out.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}
