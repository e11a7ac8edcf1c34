package postings

import (
	"context"
	"encoding/binary"
)

// Tombstones are a hash table over several pages. The page of a row is its id modulo the
// number of pages; the quotient modulo the number of slots is the first slot to check. A
// page begins with 8 bytes, of which the first is the size of a slot, 4 or 8 bytes. An
// empty slot ends the search.

// dead reports whether a row was deleted from the segment. It reads pages when they are
// needed.
func (x *Index) dead(ctx context.Context, s *segment, row int64) (bool, error) {
	if s.graves == 0 {
		return false, nil
	}
	n := int64(uint64(row) % uint64(s.graves))
	page, known := s.grave[n]
	if !known {
		id := (s.id+tombstones)<<pageBits + n
		err := x.src.blocks(ctx, id, id, func(_ int64, b []byte) (bool, error) {
			page = append([]byte{}, b...)
			return false, nil
		})
		if err != nil {
			return false, err
		}
		if len(page) < graveHeader {
			return false, corrupt("page %d of the tombstones of segment %d", n, s.id)
		}
		if s.grave == nil {
			s.grave = make(map[int64][]byte)
		}
		s.grave[n] = page
	}
	return inGrave(page, uint64(s.graves), uint64(row)), nil
}

const graveHeader = 8

// inGrave looks up a row in its page.
func inGrave(page []byte, pages, row uint64) bool {
	size := 8
	if page[0] == 4 {
		size = 4
	}
	slots := uint64(1)
	if len(page) > 16 {
		slots = uint64(len(page)-graveHeader) / uint64(size)
	}
	at := row / pages % slots
	for range slots {
		slot := page[min(graveHeader+int(at)*size, len(page)):]
		if len(slot) < size {
			return false
		}
		var v uint64
		if size == 4 {
			v = uint64(binary.BigEndian.Uint32(slot))
		} else {
			v = binary.BigEndian.Uint64(slot)
		}
		if v == 0 {
			return false
		}
		if v == row {
			return true
		}
		at = (at + 1) % slots
	}
	return false
}
