package export

import (
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
}

// NewParquetLinks writes links as Parquet.
func NewParquetLinks(w io.Writer) Sink[Link] { return newParquet(w, linkSize) }

func linkSize(l *Link) int { return entryBytes + len(l.Source) + len(l.Target) + len(l.Anchor) }

func newParquet[T any](w io.Writer, size func(*T) int) *parquetSink[T] {
	// With statistics, the header of each page has the least and the greatest value of the page, each
	// twice. Apache Arrow refuses headers of more than 16 MiB: a text of 4 MiB would be too long. The
	// footer has the bounds of row groups, and the column index those of pages, cut.
	out := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd), parquet.DataPageStatistics(false), parquet.CreatedBy("indexer", "", ""))
	return &parquetSink[T]{out: out, size: size}
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
	p.rows, p.bytes = 0, 0
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func (p *parquetSink[T]) Close() error {
	if err := p.out.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}
