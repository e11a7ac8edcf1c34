package schema

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/wire"
	"github.com/webindexer/indexer/store"
)

// enc builds a stored value: varints, and strings preceded by their lengths.
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

// dec reads a stored value. done reports whether the value was damaged.
type dec struct{ *wire.Decoder }

func newDec(b []byte) dec { return dec{wire.NewDecoder(b)} }

func (d dec) strings() []string {
	n := d.Uint()
	if n > uint64(len(d.Rest())) { // each takes at least a byte
		d.Fail()
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.Text())
	}
	return list
}

func (d dec) time() time.Time {
	ns := d.Int()
	if d.Failed() {
		return time.Time{}
	}
	return StorableTime(time.Unix(0, ns))
}

func (d dec) array32() (a [32]byte) {
	copy(a[:], d.Take(uint64(len(a))))
	return a
}

func (d dec) array8() (a [8]byte) {
	copy(a[:], d.Take(uint64(len(a))))
	return a
}

// done returns an error unless the value was read to its end and nothing was missing.
func (d dec) done(what string) error {
	if d.Failed() || len(d.Rest()) > 0 {
		return fmt.Errorf("schema: stored %s cannot be read: %w", what, store.ErrCorrupt)
	}
	return nil
}
