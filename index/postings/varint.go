package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt means that the shadow tables are not as FTS5 writes them.
var ErrCorrupt = errors.New("full-text index is damaged")

func corrupt(what string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(what, args...))
}

// Varint reads a variable-length integer of SQLite: seven bits per byte, the highest first,
// and the high bit set in all bytes but the last; a ninth byte has eight bits. n is its
// length, or 0 if b ends too early.
func Varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 8 {
		c := b[n]
		n++
		v = v<<7 | uint64(c&0x7F)
		if c < 0x80 {
			return v, n
		}
	}
	if n == 8 && len(b) > 8 {
		return v<<8 | uint64(b[8]), 9
	}
	return 0, 0
}

// reader reads numbers from a record, and remembers whether it ended too early.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) varint() uint64 {
	v, n := Varint(r.b)
	r.bad = r.bad || n == 0
	r.b = r.b[n:]
	return v
}

func appendVarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	if v>>56 != 0 {
		for shift := 57; shift >= 8; shift -= 7 {
			b = append(b, byte(v>>shift)|0x80)
		}
		return append(b, byte(v))
	}
	var tmp [8]byte
	i := len(tmp) - 1
	tmp[i] = byte(v & 0x7F)
	for v >>= 7; v > 0; v >>= 7 {
		i--
		tmp[i] = byte(v) | 0x80
	}
	return append(b, tmp[i:]...)
}

func uint16At(b []byte, i int) int { return int(binary.BigEndian.Uint16(b[i:])) }
