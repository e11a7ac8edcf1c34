package badgerdb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// Keys, also described in docs/format-store.md:
//
//	versioned group   [group id][row][00 01][column][00 01][^timestamp, 8 bytes big-endian]
//	Latest group      [group id][row][00 01][column][00 01]
//	the table's own   [00][name]
//
// Row and column are escaped: a byte 00 becomes 00 FF. The end mark 00 01 sorts
// below everything that can follow within a row, so the byte order of keys is the
// order of rows, then of columns, then of timestamps from the newest down. An
// escaped prefix of a name is a prefix of the escaped name.
//
// Group ids start at 0x80: Badger refuses keys that start with "!badger!", which
// a group with the id 0x21 could produce.

const (
	metaID       = 0x00
	firstGroupID = 0x80
	lastGroupID  = 0xfe
	maxGroups    = 0x100 - firstGroupID // a multiple of 64, see groupSet

	escape     = 0x00
	escapedNul = 0xff
	endMark    = 0x01

	tsBytes = 8
)

// appendEscaped appends a name without its end mark: a prefix of all names that
// start with it.
func appendEscaped(dst, name []byte) []byte {
	for {
		i := bytes.IndexByte(name, 0)
		if i < 0 {
			return append(dst, name...)
		}
		dst = append(dst, name[:i]...)
		dst = append(dst, escape, escapedNul)
		name = name[i+1:]
	}
}

func appendName(dst, name []byte) []byte {
	return append(appendEscaped(dst, name), escape, endMark)
}

// appendRow appends the head of all keys of a row in a group.
func appendRow(dst []byte, id byte, row []byte) []byte {
	return appendName(append(dst, id), row)
}

func appendTS(dst []byte, ts uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, ^ts)
}

// splitTS splits the key of a versioned cell into its head and its timestamp.
func splitTS(key []byte) (head []byte, ts uint64, err error) {
	if len(key) < tsBytes+1 {
		return nil, 0, fmt.Errorf("%w: key %x is too short", store.ErrCorrupt, key)
	}
	n := len(key) - tsBytes
	return key[:n], ^binary.BigEndian.Uint64(key[n:]), nil
}

// rowEnd returns the offset after the end mark of the row.
func rowEnd(key []byte) (int, error) {
	for i := 1; ; {
		j := bytes.IndexByte(key[i:], escape)
		if j < 0 || i+j+1 >= len(key) {
			return 0, fmt.Errorf("%w: key %x has a name without an end", store.ErrCorrupt, key)
		}
		switch key[i+j+1] {
		case endMark:
			return i + j + 2, nil
		case escapedNul:
			i += j + 2
		default:
			return 0, fmt.Errorf("%w: key %x has a bad escape at byte %d", store.ErrCorrupt, key, i+j)
		}
	}
}

// unescape returns a name from its escaped form with end mark, as a fresh slice.
func unescape(escaped []byte) []byte { return unescapeTo(nil, escaped) }

// unescapeTo appends the name to a slice, which is never nil afterwards.
func unescapeTo(name, escaped []byte) []byte {
	escaped = escaped[:len(escaped)-2]
	if name == nil {
		name = make([]byte, 0, len(escaped))
	}
	for {
		i := bytes.IndexByte(escaped, escape)
		if i < 0 {
			return append(name, escaped...)
		}
		name = append(name, escaped[:i+1]...)
		escaped = escaped[i+2:]
	}
}

// Values:
//
//	versioned group   [01][value], or [02][pointer] to a long value (blobs.go)
//	Latest group      [timestamp, 8 bytes big-endian][value]
//
// A stored value is never empty, because Badger hands out an empty value, and no
// error, for one it cannot read back from its value log.

const plainValue = 0x01

func appendValue(dst []byte, latest bool, ts uint64, value []byte) []byte {
	if latest {
		dst = binary.BigEndian.AppendUint64(dst, ts)
	} else {
		dst = append(dst, plainValue)
	}
	return append(dst, value...)
}

func splitLatest(stored, key []byte) (ts uint64, value []byte, err error) {
	if len(stored) < tsBytes {
		return 0, nil, unreadable(key)
	}
	return binary.BigEndian.Uint64(stored), stored[tsBytes:], nil
}

func splitPlain(stored, key []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != plainValue {
		return nil, unreadable(key)
	}
	return stored[1:], nil
}

func unreadable(key []byte) error {
	return fmt.Errorf("%w: the value under key %x cannot be read: a value log file (badger/*.vlog) is damaged, or gone; restore it from a backup, or rebuild it", store.ErrCorrupt, key)
}
