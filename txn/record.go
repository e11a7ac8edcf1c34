package txn

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/wire"
	"github.com/webindexer/indexer/store"
)

// op is what a transaction does to a cell.
type op byte

const (
	opPut op = iota
	opDelete
	// opLock makes a cell part of the transaction without changing it: an
	// observer's trigger, so that two runs for one change conflict.
	opLock
	// opRead locks the cell as if it were written: GetForUpdate.
	opRead
)

// inlineLimit is the largest size in bytes of a value that the two-phase protocol stores
// in the lock and write records instead of a data cell, which saves its readers a
// look-up. (TiKV uses 255 as well.)
const inlineLimit = 255

// writeRecord is the value of a w cell, stored at the commit timestamp.
//
//	[op][start timestamp, 8 bytes big-endian][1 if inline][value if inline]
type writeRecord struct {
	op     op
	start  uint64
	inline bool
	value  []byte
}

// recordHead is the length of a write record without its value.
const recordHead = 10

func (w writeRecord) encode() []byte {
	return w.append(make([]byte, 0, recordHead+len(w.value)))
}

func (w writeRecord) append(b []byte) []byte {
	b = append(b, byte(w.op))
	b = binary.BigEndian.AppendUint64(b, w.start)
	if !w.inline {
		return append(b, 0)
	}
	return append(append(b, 1), w.value...)
}

func decodeWrite(b []byte) (writeRecord, error) {
	if len(b) < recordHead {
		return writeRecord{}, fmt.Errorf("write record of %d bytes: %w", len(b), store.ErrCorrupt)
	}
	if b[0] > byte(opRead) || b[9] > 1 || (b[9] == 0 && len(b) > recordHead) {
		return writeRecord{}, fmt.Errorf("write record %x: %w", b[:recordHead], store.ErrCorrupt)
	}
	w := writeRecord{op: op(b[0]), start: binary.BigEndian.Uint64(b[1:9]), inline: b[9] == 1}
	if w.inline {
		w.value = b[recordHead:]
	}
	return w, nil
}

// lockRecord is the value of a lock cell, stored at the start timestamp. It
// holds everything that another process needs to finish or undo the transaction at this
// cell without its owner.
type lockRecord struct {
	start   uint64 // the timestamp of the lock cell; not encoded
	op      op
	primary Cell
	// token and wall tell whether the owner is alive (liveness.go).
	token string
	wall  time.Time
	// inline holds the future value if it is short.
	inline bool
	value  []byte
	// acks are the observers whose runs this transaction performs, if this cell is
	// their trigger: a process that rolls it forward must acknowledge too
	// (fluo#660 shows what happens otherwise).
	acks []string
}

func (l lockRecord) encode() []byte {
	b := []byte{byte(l.op)}
	b = appendString(b, l.primary.Row)
	b = appendString(b, l.primary.Group)
	b = appendString(b, l.primary.Name)
	b = appendString(b, l.token)
	b = binary.AppendVarint(b, l.wall.UnixNano())
	b = binary.AppendUvarint(b, uint64(len(l.acks)))
	for _, o := range l.acks {
		b = appendString(b, o)
	}
	if !l.inline {
		return append(b, 0)
	}
	return append(append(b, 1), l.value...)
}

func decodeLock(c store.Cell) (lockRecord, error) {
	d := wire.NewDecoder(c.Value)
	l := lockRecord{start: c.TS, op: op(d.Byte())}
	l.primary.Row = d.Text()
	l.primary.Group = d.Text()
	l.primary.Name = d.Text()
	l.token = d.Text()
	l.wall = time.Unix(0, d.Int())
	for n := d.Uint(); n > 0 && !d.Failed(); n-- {
		l.acks = append(l.acks, d.Text())
	}
	inline := d.Byte()
	if inline == 1 {
		l.inline, l.value = true, d.Rest()
	}
	if d.Failed() || l.op > opRead || inline > 1 || (inline == 0 && len(d.Rest()) > 0) {
		return l, fmt.Errorf("lock record in row %q at %d: %w", c.Row, c.TS, store.ErrCorrupt)
	}
	return l, nil
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
