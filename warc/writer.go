package warc

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"
)

// Writer writes WARC/1.1, with a gzip member per record. The same calls give the same
// bytes: no clock and no randomness is involved. It is not safe for concurrent use.
type Writer struct {
	dst    io.Writer
	z      *gzip.Writer
	count  int
	offset int64
	err    error // first failure, after which the file is unusable
}

// NewWriter returns a Writer to dst. It does not close dst.
func NewWriter(dst io.Writer) *Writer {
	return &Writer{dst: dst, z: gzip.NewWriter(nil)}
}

// Write writes one record and returns its id. fields are its header without
// Content-Length, WARC-Record-ID and WARC-Block-Digest, which Write adds: the id is derived
// from the rest of the record and its number in the file (UUID version 5, RFC 9562
// section 5.5).
//
// After an error, which names the record, all later calls fail as well, because the
// output ends in an incomplete record.
func (w *Writer) Write(fields Fields, block []byte) (id string, err error) {
	if w.err != nil {
		return "", w.err
	}
	for _, f := range fields {
		if bytes.ContainsAny([]byte(f.Name+f.Value), "\r\n") {
			return "", fmt.Errorf("write WARC record: the value of field %q contains a newline: %q", f.Name, f.Value)
		}
	}
	digest := Digest(block)
	id = w.recordID(fields, digest)
	var head bytes.Buffer
	head.WriteString("WARC/1.1\r\n")
	for _, f := range append(fields[:len(fields):len(fields)],
		Field{"WARC-Record-ID", id},
		Field{"WARC-Block-Digest", digest},
		Field{"Content-Length", strconv.Itoa(len(block))}) {
		head.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	head.WriteString("\r\n")
	if err := w.member(head.Bytes(), block, []byte("\r\n\r\n")); err != nil {
		w.err = fmt.Errorf("write WARC record %d (%s): %w", w.count, abbreviate(cmp.Or(fields.Get("WARC-Target-URI"), fields.Get("WARC-Type"))), err)
		return "", w.err
	}
	w.count++
	return id, nil
}

// namespace is the namespace of record ids; any fixed UUID would do.
var namespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("http://iipc.github.io/warc-specifications/"))

func (w *Writer) recordID(fields Fields, digest string) string {
	var name bytes.Buffer
	fmt.Fprintf(&name, "%d\n%s\n", w.count, digest)
	for _, f := range fields {
		fmt.Fprintf(&name, "%s: %s\n", f.Name, f.Value)
	}
	return "<urn:uuid:" + uuid.NewSHA1(namespace, name.Bytes()).String() + ">"
}

func (w *Writer) member(parts ...[]byte) error {
	counted := countingWriter{w.dst, &w.offset}
	w.z.Reset(counted)
	for _, part := range parts {
		if _, err := w.z.Write(part); err != nil {
			return err
		}
	}
	return w.z.Close()
}

// Offset returns the length of the output so far in bytes, which is where the next record
// will begin.
func (w *Writer) Offset() int64 { return w.offset }

type countingWriter struct {
	io.Writer
	n *int64
}

func (c countingWriter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	*c.n += int64(n)
	return n, err
}

// formatDate formats a time as WARC-Date: in UTC, with fractions if there are any.
func formatDate(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
