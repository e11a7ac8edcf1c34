package bigtable

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"cloud.google.com/go/bigtable"
)

// mainByte begins the keys of rows in the main table. Bigtable has no empty keys, but a
// table has an empty row, and the table's own row must not be in the way.
const mainByte = 'r'

// shards are the bytes that begin the keys of a group with OwnTable in the table of these groups.
// A hash of the row chooses one, so that neighbouring rows, which are often written at the same
// time, are in different tablets. The bytes and the hash are part of the stored format.
//
// Each group has shards of its own. Families of a table are stored together, so a scan of
// one group would pass over the cells of the others if they had the same keys.
type shards string

// ownShards are those of the first group with OwnTable, and of the second.
var ownShards = [...]shards{"0123456789abcdef", "ghijklmnopqrstuv"}

func mainKey(row []byte) string { return string(mainByte) + string(row) }

func (s shards) key(row []byte) string {
	h := fnv.New32a()
	h.Write(row)
	return string(s[h.Sum32()%uint32(len(s)):][:1]) + string(row)
}

// rowOf is the row of a key of either table.
func rowOf(key string) []byte { return []byte(key[1:]) }

// maxTS is the greatest timestamp of a cell. The end of a range is exclusive, so the next
// timestamp must be possible, too.
const maxTS = math.MaxInt64/tsUnit - 1

// tsUnit is how many microseconds one timestamp takes.
const tsUnit = 1000

// cellTS is the timestamp of a cell; ts is at most maxTS + 1.
func cellTS(ts uint64) bigtable.Timestamp { return bigtable.Timestamp(ts * tsUnit) }

// tsOf is the inverse of cellTS.
func tsOf(t bigtable.Timestamp) (uint64, bool) {
	return uint64(t) / tsUnit, t >= 0 && t%tsUnit == 0
}

// tsEnd is the exclusive end of a range of timestamps that includes hi; 0 means no end.
func tsEnd(hi uint64) bigtable.Timestamp {
	if hi >= maxTS {
		return 0
	}
	return cellTS(hi + 1)
}

// maxFamily is the length of the longest name of a column family.
const maxFamily = 64

// familyOf encodes the name of a group as the name of a column family: letters, digits, "."
// and "-" stand for themselves, and other bytes become "_" and two hexadecimal digits.
func familyOf(group string) (string, error) {
	var b strings.Builder
	for i := range len(group) {
		switch c := group[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	if b.Len() > maxFamily {
		return "", fmt.Errorf("store: locality group %q: its name takes %d bytes as a column family of Bigtable, at most %d are possible", group, b.Len(), maxFamily)
	}
	return b.String(), nil
}
