package schema

import (
	"encoding/binary"
	"fmt"
	"time"

	"indexer/store"
)

// enc builds a stored value: varints, and strings with their length in front.
type enc []byte

func (e enc) byte(b byte) enc     { return append(e, b) }
func (e enc) uint(v uint64) enc   { return binary.AppendUvarint(e, v) }
func (e enc) string(s string) enc { return append(e.uint(uint64(len(s))), s...) }

func (e enc) time(t time.Time) enc {
	return binary.AppendVarint(e, StorableTime(t).UnixNano())
}

func (e enc) strings(list []string) enc {
	e = e.uint(uint64(len(list)))
	for _, s := range list {
		e = e.string(s)
	}
	return e
}

// dec reads a stored value. After the first field that is not there, all are
// zero, and done reports the error.
type dec struct {
	b   []byte
	bad bool
}

func (d *dec) fail() { d.b, d.bad = nil, true }

func (d *dec) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *dec) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *dec) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// bytes returns a part of the value, not a copy.
func (d *dec) bytes() []byte {
	n := d.uint()
	if uint64(len(d.b)) < n {
		d.fail()
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *dec) string() string { return string(d.bytes()) }

func (d *dec) strings() []string {
	n := d.uint()
	if n > uint64(len(d.b)) { // each takes a byte at least
		d.fail()
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.string())
	}
	return list
}

func (d *dec) time() time.Time {
	ns := d.int()
	if d.bad {
		return time.Time{}
	}
	return StorableTime(time.Unix(0, ns))
}

func (d *dec) array32() (a [32]byte) {
	if len(d.b) < len(a) {
		d.fail()
		return a
	}
	copy(a[:], d.b)
	d.b = d.b[len(a):]
	return a
}

// done reports whether the value was read to its end, and nothing was missing.
func (d *dec) done(what string) error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("schema: stored %s cannot be read: %w", what, store.ErrCorrupt)
	}
	return nil
}
