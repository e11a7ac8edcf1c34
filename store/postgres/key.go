package postgres

import (
	"crypto/sha256"

	"github.com/cespare/xxhash/v2"
)

// headBytes is the length of the part of a row's key that is stored, and ordered, as it is.
// It is part of the format.
const headBytes = 1024

// rowKey is the key of a row as it is stored. None of the parts is nil, which SQL would
// treat as NULL, except a rest that does not exist.
type rowKey struct {
	head, tail, rest []byte
}

func splitRow(row []byte) rowKey {
	if len(row) <= headBytes {
		return rowKey{head: notNull(row), tail: []byte{}}
	}
	sum := sha256.Sum256(row[headBytes:])
	return rowKey{head: row[:headBytes], tail: sum[:], rest: row[headBytes:]}
}

// head is the stored head of the row's key, by which rows are found in order. Rows with
// equal heads of full length are stored in the order of their hashes.
func head(row []byte) []byte { return notNull(row[:min(len(row), headBytes)]) }

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// lockNumber is the number of the advisory lock of a row. All processes that write to a
// table must agree on it. Advisory locks are shared by a database: two rows with one number
// wait for each other, which only costs time.
func lockNumber(schema string, row []byte) int64 {
	d := xxhash.New()
	_, _ = d.WriteString(schema)
	_, _ = d.Write([]byte{0})
	_, _ = d.Write(row)
	return int64(d.Sum64())
}

// inverse maps a timestamp to the number that is stored, which PostgreSQL orders as a signed
// one: a newer timestamp has a smaller number. For timestamps below 2⁶³ it is
// 9223372036854775807 - ts.
func inverse(ts uint64) int64 { return int64(^ts ^ 1<<63) }

// timestamp is the inverse of inverse.
func timestamp(inverseTS int64) uint64 { return ^(uint64(inverseTS) ^ 1<<63) }
