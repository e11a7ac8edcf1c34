package clusterbench

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// record is a line of a file: a document with its keys, or a pair.
type record [4]uint32

const recordSize = 16

// sorter sorts files in a directory, with a bounded number of records in memory.
type sorter struct {
	dir    string
	atOnce int
}

// sorted calls fn with the records of some files, ordered by a field and then by the
// first one.
func (s *sorter) sorted(ctx context.Context, files []string, field int, fn func(record)) error {
	compare := func(a, b record) int {
		return cmp.Or(cmp.Compare(a[field], b[field]), cmp.Compare(a[0], b[0]))
	}
	var parts []string
	var list []record
	spill := func() error {
		path := filepath.Join(s.dir, "part"+strconv.Itoa(len(parts)))
		slices.SortFunc(list, compare)
		err := writeRecords(path, list)
		parts, list = append(parts, path), list[:0]
		return err
	}
	for _, file := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := readRecords(file, func(r record) error {
			if list = append(list, r); len(list) < s.atOnce {
				return nil
			}
			return spill()
		})
		if err != nil {
			return err
		}
	}
	if len(parts) > 0 {
		if err := spill(); err != nil {
			return err
		}
		return merge(parts, compare, fn)
	}
	slices.SortFunc(list, compare)
	for _, r := range list {
		fn(r)
	}
	return nil
}

// merge reads sorted parts in order.
func merge(parts []string, compare func(a, b record) int, fn func(record)) (err error) {
	h := &heads{compare: compare}
	for _, path := range parts {
		r, err := open(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
		if rec, ok := r.next(); ok {
			h.list = append(h.list, head{rec, r})
		}
	}
	heap.Init(h)
	for h.Len() > 0 {
		first := &h.list[0]
		fn(first.record)
		rec, ok := first.from.next()
		if !ok {
			heap.Pop(h)
			continue
		}
		first.record = rec
		heap.Fix(h, 0)
	}
	return nil
}

// heads are the next records of the parts.
type heads struct {
	list    []head
	compare func(a, b record) int
}

type head struct {
	record
	from *reader
}

func (h *heads) Len() int           { return len(h.list) }
func (h *heads) Less(i, j int) bool { return h.compare(h.list[i].record, h.list[j].record) < 0 }
func (h *heads) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *heads) Push(x any)         { h.list = append(h.list, x.(head)) }
func (h *heads) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

// writer writes records; close reports the first error.
type writer struct {
	f   *os.File
	buf *bufio.Writer
}

func create(path string) (*writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &writer{f, bufio.NewWriterSize(f, 1<<20)}, nil
}

func (w *writer) put(r record) {
	var b [recordSize]byte
	for i, v := range r {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	_, _ = w.buf.Write(b[:]) // Flush reports it
}

func (w *writer) close() error { return errors.Join(w.buf.Flush(), w.f.Close()) }

func writeRecords(path string, list []record) error {
	w, err := create(path)
	if err != nil {
		return err
	}
	for _, r := range list {
		w.put(r)
	}
	return w.close()
}

// reader reads records; close reports the first error.
type reader struct {
	f   *os.File
	buf *bufio.Reader
	err error
}

func open(path string) (*reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &reader{f: f, buf: bufio.NewReaderSize(f, 1<<20)}, nil
}

func (r *reader) next() (rec record, ok bool) {
	var b [recordSize]byte
	if _, err := io.ReadFull(r.buf, b[:]); err != nil {
		if !errors.Is(err, io.EOF) {
			r.err = err
		}
		return rec, false
	}
	for i := range rec {
		rec[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return rec, true
}

func (r *reader) close() error { return errors.Join(r.err, r.f.Close()) }

func readRecords(path string, fn func(record) error) (err error) {
	r, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for rec, ok := r.next(); ok; rec, ok = r.next() {
		if err := fn(rec); err != nil {
			return err
		}
	}
	return nil
}
