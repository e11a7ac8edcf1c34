package export

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// CIFF collects an inverted index and writes it in the Common Index File Format,
// version 1 (Lin and others, "Supporting Interoperability Between Open-Source Search
// Engines with the Common Index File Format", SIGIR 2020): one file of protocol
// buffers, each preceded by its length,
//
//	a Header, a PostingsList per term, a DocRecord per document.
//
// Documents are numbered from 0 in the order in which they are added. Terms ascend by
// their bytes. The documents of a list ascend, each stored as the difference from the one
// before it.
//
// The header counts the messages that follow, so nothing can be written before all
// documents have been added. Until then, a Sorter holds the postings and a file holds the
// records. Memory holds the terms of one document and the encoded form of one list, which
// takes some three bytes per document.
type CIFF struct {
	description string
	postings    *Sorter // term, zero byte, document, frequency
	records     *scratch
	lists       *scratch
	docs        int
	terms       int64
}

// NewCIFF returns a collector that uses up to limit bytes of memory (0: the default of
// Sorter) and temporary files in dir. The description tells people where the index
// comes from. The caller closes the collector.
func NewCIFF(dir string, limit int, description string) (_ *CIFF, err error) {
	c := &CIFF{description: description, postings: NewSorter(dir, limit)}
	if c.records, err = newScratch(dir); err != nil {
		return nil, err
	}
	if c.lists, err = newScratch(dir); err != nil {
		return nil, errors.Join(err, c.records.close())
	}
	return c, nil
}

// Add adds a document: its external name, and how often it has each term.
func (c *CIFF) Add(name string, terms map[string]int) error {
	if c.docs == math.MaxInt32 {
		return fmt.Errorf("ciff: more than %d documents, the maximum of the format", math.MaxInt32)
	}
	length := 0
	var b []byte
	for _, term := range slices.Sorted(maps.Keys(terms)) {
		if strings.ContainsRune(term, 0) {
			return fmt.Errorf("ciff: %s: the term %q has a zero byte", name, term)
		}
		b = append(append(b[:0], term...), 0)
		b = binary.BigEndian.AppendUint32(b, uint32(c.docs))
		b = binary.BigEndian.AppendUint32(b, uint32(terms[term]))
		if err := c.postings.Add(b); err != nil {
			return err
		}
		length += terms[term]
	}
	b = appendInt(b[:0], 1, uint64(c.docs))
	b = appendString(b, 2, name)
	b = appendInt(b, 3, uint64(length))
	c.docs++
	c.terms += int64(length)
	return c.delimited(c.records, b)
}

// WriteTo writes the file, and returns its length in bytes.
func (c *CIFF) WriteTo(w io.Writer) (int64, error) {
	lists, err := c.writeLists()
	if err != nil {
		return 0, fmt.Errorf("ciff: %w", err)
	}
	out := &counter{w: w}
	buf := bufio.NewWriterSize(out, buffered)
	err = c.delimited(buf, c.header(lists))
	for _, part := range []*scratch{c.lists, c.records} {
		if err == nil {
			err = part.flush()
		}
		if err == nil {
			_, err = io.Copy(buf, part.section(0, part.size))
		}
	}
	if err == nil {
		err = buf.Flush()
	}
	if err != nil {
		err = fmt.Errorf("ciff: %w", err)
	}
	return out.n, err
}

func (c *CIFF) header(lists int) []byte {
	b := appendInt(nil, 1, 1) // version
	b = appendInt(b, 2, uint64(lists))
	b = appendInt(b, 3, uint64(c.docs))
	b = appendInt(b, 4, uint64(lists))
	b = appendInt(b, 5, uint64(c.docs))
	b = appendInt(b, 6, uint64(c.terms))
	if c.terms > 0 {
		b = protowire.AppendTag(b, 7, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, math.Float64bits(float64(c.terms)/float64(c.docs)))
	}
	return appendString(b, 8, c.description)
}

// list is a postings list under construction.
type list struct {
	term     []byte
	df, cf   uint64
	last     uint32 // document
	postings []byte
	posting  []byte
}

func (l *list) add(doc, tf uint32) {
	l.posting = appendInt(l.posting[:0], 1, uint64(doc-l.last)) // last is 0 before the first
	l.posting = appendInt(l.posting, 2, uint64(tf))
	l.postings = protowire.AppendTag(l.postings, 4, protowire.BytesType)
	l.postings = protowire.AppendBytes(l.postings, l.posting)
	l.df, l.cf, l.last = l.df+1, l.cf+uint64(tf), doc
}

// writeLists merges the postings into lists and returns the number of lists.
func (c *CIFF) writeLists() (n int, err error) {
	var l list
	write := func() error {
		if l.df == 0 {
			return nil
		}
		n++
		b := appendString(nil, 1, string(l.term))
		b = appendInt(b, 2, l.df)
		b = appendInt(b, 3, l.cf)
		b = append(b, l.postings...)
		l.df, l.cf, l.last, l.postings = 0, 0, 0, l.postings[:0]
		return c.delimited(c.lists, b)
	}
	err = c.postings.Sorted(func(record []byte) error {
		at := len(record) - 9
		term := record[:at]
		if !bytes.Equal(term, l.term) {
			if err := write(); err != nil {
				return err
			}
			l.term = append(l.term[:0], term...)
		}
		l.add(binary.BigEndian.Uint32(record[at+1:]), binary.BigEndian.Uint32(record[at+5:]))
		return nil
	})
	if err != nil {
		return n, err
	}
	return n, write()
}

// Close releases memory and files.
func (c *CIFF) Close() error {
	return errors.Join(c.postings.Close(), c.records.close(), c.lists.close())
}

// delimited writes the length of a message and the message.
func (c *CIFF) delimited(w io.Writer, message []byte) error {
	_, err := w.Write(protowire.AppendBytes(nil, message))
	return err
}

// appendInt appends a field unless it is 0, the default of an absent field.
func appendInt(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendString(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), strings.ToValidUTF8(s, "\uFFFD"))
}

// counter counts the bytes that it passes on.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
