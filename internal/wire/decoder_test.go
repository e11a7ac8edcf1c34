package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestDecoder reads a record whole, and then every beginning of it: the cut is
// reported, and no field is made up after it.
func TestDecoder(t *testing.T) {
	record := append([]byte{7}, binary.AppendUvarint(nil, 300)...)
	record = binary.AppendVarint(record, -5)
	record = append(record, 3, 'a', 'b', 'c', 'x', 'y')
	for n := range len(record) + 1 {
		d := NewDecoder(record[:n])
		b, u, i, s, x := d.Byte(), d.Uint(), d.Int(), d.Text(), d.Take(2)
		if whole := n == len(record); whole == d.Failed() {
			t.Errorf("%d of %d bytes: failed is %t", n, len(record), d.Failed())
		} else if whole && (b != 7 || u != 300 || i != -5 || s != "abc" || string(x) != "xy" || len(d.Rest()) != 0) {
			t.Errorf("read %d %d %d %q %q, and %q is left", b, u, i, s, x, d.Rest())
		}
		if d.Failed() && (d.Uint() != 0 || d.Byte() != 0 || d.Text() != "" || d.Rest() != nil) {
			t.Errorf("%d bytes: fields after the end", n)
		}
	}
}

// TestVarints: a varint that is not there, or has more than 64 bits, is a failure.
func TestVarints(t *testing.T) {
	for _, b := range [][]byte{nil, bytes.Repeat([]byte{0xff}, 11)} {
		d := NewDecoder(b)
		if v := d.Uint(); v != 0 || !d.Failed() {
			t.Errorf("%x: unsigned %d, failed is %t", b, v, d.Failed())
		}
		d = NewDecoder(b)
		if v := d.Int(); v != 0 || !d.Failed() {
			t.Errorf("%x: signed %d, failed is %t", b, v, d.Failed())
		}
	}
}

// FuzzDecoder: lengths that lie are no more than failures.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := NewDecoder(b)
		if s := d.Bytes(); len(s)+len(d.Rest()) > len(b) {
			t.Fatalf("%d bytes gave %d and left %d", len(b), len(s), len(d.Rest()))
		}
	})
}
