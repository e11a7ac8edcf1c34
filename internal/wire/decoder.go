// Package wire decodes stored records: varints, and strings and byte slices that follow
// their length.
package wire

import "encoding/binary"

// Decoder reads fields off the front of a record. After the first malformed field, it returns
// only zeros, so a caller checks Failed once, at the end.
type Decoder struct {
	rest   []byte
	failed bool
}

// NewDecoder reads b, which it does not change.
func NewDecoder(b []byte) *Decoder { return &Decoder{rest: b} }

// Fail makes all further fields zero.
func (d *Decoder) Fail() { d.rest, d.failed = nil, true }

// Failed reports whether a field was not there, or Fail was called.
func (d *Decoder) Failed() bool { return d.failed }

// Rest is what has not been read, a part of the record and not a copy.
func (d *Decoder) Rest() []byte { return d.rest }

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if b := d.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint reads an unsigned varint.
func (d *Decoder) Uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Int reads a signed varint.
func (d *Decoder) Int() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Take reads n bytes, a part of the record and not a copy; nil if they are not there.
func (d *Decoder) Take(n uint64) []byte {
	if uint64(len(d.rest)) < n {
		d.Fail()
		return nil
	}
	v := d.rest[:n:n]
	d.rest = d.rest[n:]
	return v
}

// Bytes reads a byte slice, a part of the record and not a copy.
func (d *Decoder) Bytes() []byte { return d.Take(d.Uint()) }

// Text reads a string.
func (d *Decoder) Text() string { return string(d.Bytes()) }

// CommonPrefix returns the length of the prefix that two strings share. Sorted strings are stored as
// that length and the rest.
func CommonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
