package counts

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/internal/wire"
	"github.com/webindexer/indexer/store"
)

// Encode returns the cache in a form for Decode, or nil if the cache is empty.
//
// The form is: 1 if documents without a text are counted, and the number of parts. For each part:
// its name, the cells of a new range, the number of ranges; for each, the length of the prefix that
// its first row shares with the one before, the rest of it, and 1 if it is stale, or 0 and the fields of its tally.
func (c *Cache) Encode() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parts) == 0 {
		return nil
	}
	b := []byte{flag(c.documents)}
	b = binary.AppendUvarint(b, uint64(len(c.parts)))
	for _, p := range parts(c.documents) {
		if r := c.parts[p.name]; r != nil {
			b = r.encode(text(b, p.name))
		}
	}
	return b
}

func flag(is bool) byte {
	if is {
		return 1
	}
	return 0
}

func text(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (r *ranges) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.size))
	b = binary.AppendUvarint(b, uint64(len(r.list)))
	last := ""
	for i := range r.list {
		at := &r.list[i]
		same := wire.CommonPrefix(last, at.start)
		b = text(binary.AppendUvarint(b, uint64(same)), at.start[same:])
		b = append(b, flag(at.stale))
		if !at.stale {
			for _, n := range at.tally {
				b = binary.AppendUvarint(b, uint64(n))
			}
		}
		last = at.start
	}
	return b
}

// Decode restores an encoded cache. now is a timestamp; nothing may have been written between the
// time of encoding and now.
func (c *Cache) Decode(b []byte, now uint64) error {
	d := wire.NewDecoder(b)
	documents := d.Byte() == 1
	known := make(map[string]*ranges)
	for n := d.Uint(); n > 0 && !d.Failed(); n-- {
		name := d.Text()
		if !slices.ContainsFunc(parts(documents), func(p part) bool { return p.name == name }) || known[name] != nil {
			d.Fail() // Encode would not write this
		}
		known[name] = decodeRanges(d, now)
	}
	if d.Failed() || len(d.Rest()) > 0 {
		return fmt.Errorf("counts of ranges of rows: %w", store.ErrCorrupt)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.documents, c.parts, c.changed = documents, known, false
	return nil
}

func decodeRanges(d *wire.Decoder, now uint64) *ranges {
	r := &ranges{size: int(min(max(d.Uint(), 1), 1<<40))}
	last := ""
	for n := d.Uint(); n > 0 && !d.Failed(); n-- {
		same := d.Uint()
		if same > uint64(len(last)) {
			d.Fail()
			break
		}
		at := rowRange{start: last[:same] + d.Text(), counted: now, stale: d.Byte() == 1}
		if len(r.list) > 0 && at.start <= last || len(r.list) == 0 && at.start != "" {
			d.Fail()
		}
		if at.stale {
			r.stale++
		} else {
			for i := range at.tally {
				at.tally[i] = int64(d.Uint())
			}
		}
		last = at.start
		r.list = append(r.list, at)
	}
	if len(r.list) == 0 {
		d.Fail()
	}
	return r
}
