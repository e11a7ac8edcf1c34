package export

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Sorter sorts any number of records by their bytes. It collects records in memory; when
// the limit is reached, it sorts them and writes them to a file as a run. At the end it
// merges the runs.
//
// It uses memory up to the limit, plus 16 KiB per run while merging. A record that is
// larger than the limit becomes a run of its own.
type Sorter struct {
	dir   string
	limit int

	buf     []byte
	records []span
	longest int // record, in bytes
	file    *scratch
	runs    []run
}

// run is some sorted records in the file.
type run struct {
	to      int64 // end offset
	records int
}

// span is a record in the buffer.
type span struct{ from, to int }

// spanSize is the overhead of a record in memory.
const spanSize = 16

// NewSorter returns a sorter that keeps up to limit bytes in memory (0: 32 MiB) and the
// rest in a file in dir. The caller closes the sorter.
func NewSorter(dir string, limit int) *Sorter {
	return &Sorter{dir: dir, limit: cmp.Or(limit, 32<<20)}
}

// Add adds a copy of a record.
func (s *Sorter) Add(record []byte) error {
	if len(s.records) > 0 && len(s.buf)+len(record)+spanSize*(len(s.records)+1) > s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	from := len(s.buf)
	s.buf = append(s.buf, record...)
	s.records = append(s.records, span{from, len(s.buf)})
	s.longest = max(s.longest, len(record))
	return nil
}

func (s *Sorter) sort() {
	slices.SortFunc(s.records, func(a, b span) int { return bytes.Compare(s.buf[a.from:a.to], s.buf[b.from:b.to]) })
}

// spill writes the buffer as a run: each record after its length.
func (s *Sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = newScratch(s.dir); err != nil {
			return err
		}
	}
	s.sort()
	var length [binary.MaxVarintLen64]byte
	for _, r := range s.records {
		n := binary.PutUvarint(length[:], uint64(r.to-r.from))
		for _, b := range [][]byte{length[:n], s.buf[r.from:r.to]} {
			if _, err := s.file.Write(b); err != nil {
				return err
			}
		}
	}
	s.runs = append(s.runs, run{s.file.size, len(s.records)})
	s.buf, s.records = s.buf[:0], s.records[:0]
	return nil
}

// Sorted calls fn for each record in order, including equal ones. The record is valid
// during the call. Sorted may be called again, with the same result.
func (s *Sorter) Sorted(fn func(record []byte) error) error {
	if len(s.runs) == 0 {
		s.sort()
		for _, r := range s.records {
			if err := fn(s.buf[r.from:r.to:r.to]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(s.records) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if err := s.file.flush(); err != nil {
		return err
	}
	return s.merge(fn)
}

func (s *Sorter) merge(fn func([]byte) error) error {
	var runs mergeHeap
	from := int64(0)
	for _, r := range s.runs {
		h := &runReader{in: bufio.NewReaderSize(s.file.section(from, r.to), 16<<10), left: r.records, longest: s.longest}
		if err := h.next(); err != nil {
			return err
		}
		runs = append(runs, h)
		from = r.to
	}
	heap.Init(&runs)
	for len(runs) > 0 {
		h := runs[0]
		if err := fn(h.record[:len(h.record):len(h.record)]); err != nil {
			return err
		}
		switch err := h.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&runs)
		case err != nil:
			return err
		default:
			heap.Fix(&runs, 0)
		}
	}
	return nil
}

// Reset removes all records and keeps the memory for new ones.
func (s *Sorter) Reset() error {
	s.buf, s.records, s.runs = s.buf[:0], s.records[:0], nil
	err := s.file.close()
	s.file = nil
	return err
}

// Close releases the memory and the file.
func (s *Sorter) Close() error {
	s.buf, s.records, s.runs = nil, nil, nil
	return s.file.close()
}

// runReader reads the records of a run.
type runReader struct {
	in      *bufio.Reader
	left    int // records
	longest int // record, in bytes
	record  []byte
}

// next reads the next record; it returns io.EOF at the end of the run.
func (h *runReader) next() error {
	if h.left == 0 {
		return io.EOF
	}
	h.left--
	n, err := binary.ReadUvarint(h.in)
	if n > uint64(h.longest) {
		return readError(fmt.Errorf("a record of %d bytes, and the longest has %d: the file was changed or damaged", n, h.longest))
	}
	if err == nil {
		h.record = slices.Grow(h.record[:0], int(n))[:n]
		_, err = io.ReadFull(h.in, h.record)
	}
	return readError(err)
}

// mergeHeap is a heap of runs by their next records.
type mergeHeap []*runReader

func (h mergeHeap) Len() int           { return len(h) }
func (h mergeHeap) Less(i, j int) bool { return bytes.Compare(h[i].record, h[j].record) < 0 }
func (h mergeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *mergeHeap) Push(x any)        { *h = append(*h, x.(*runReader)) }
func (h *mergeHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
