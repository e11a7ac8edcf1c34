package badgerdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/internal/engine"
)

// The table's own keys.
var (
	// groupsKey: one line per group, "id kind name", with the name quoted as in
	// Go and the kind "versions" or "latest".
	groupsKey = []byte("\x00groups")
	// boundsKey: for each group that was ever written to, its id and a bound of all
	// timestamps ever put, 8 bytes big-endian. Part of every group that raises one.
	boundsKey = []byte("\x00bounds")
)

// group is a locality group as stored.
type group struct {
	store.GroupSpec
	number int // in the schema of this opening
	id     byte
}

// pointRead reports whether columns of the group are read by name, and have many versions:
// hints and known are for these.
func (g *group) pointRead() bool { return !g.Latest && !g.Scanned }

const (
	kindVersions = "versions"
	kindLatest   = "latest"
)

func kind(latest bool) string {
	if latest {
		return kindLatest
	}
	return kindVersions
}

// numberGroups gives the declared groups their ids: those of the stored table, and
// the next free ones for new groups. It fails if a stored group is missing or of
// another kind, because its cells would be out of reach or misread. changed says
// that the table must be stored.
func numberGroups(schema *engine.Schema, stored string) (groups []group, table string, changed bool, err error) {
	known, next, err := parseGroups(stored)
	if err != nil {
		return nil, "", false, err
	}
	var b strings.Builder
	b.WriteString(stored)
	for i, spec := range schema.Specs() {
		g, ok := known[spec.Name]
		delete(known, spec.Name)
		if ok && g.Latest != spec.Latest {
			return nil, "", false, fmt.Errorf("store: locality group %q keeps %s here, and was opened to keep %s", spec.Name, kind(g.Latest), kind(spec.Latest))
		}
		if !ok {
			if next > lastGroupID {
				return nil, "", false, fmt.Errorf("store: more than %d locality groups", lastGroupID-firstGroupID+1)
			}
			g.id = byte(next)
			next++
			changed = true
			fmt.Fprintf(&b, "%d %s %q\n", g.id, kind(spec.Latest), spec.Name)
		}
		groups = append(groups, group{GroupSpec: spec, number: i, id: g.id})
	}
	if left := slices.Sorted(maps.Keys(known)); len(left) > 0 {
		return nil, "", false, fmt.Errorf("store: the table has a locality group %q that it was opened without: this program does not match the data", left[0])
	}
	return groups, b.String(), changed, nil
}

func parseGroups(text string) (known map[string]group, next int, err error) {
	known, next = map[string]group{}, firstGroupID
	for line := range strings.Lines(text) {
		var (
			g group
			k string
		)
		if _, err := fmt.Sscanf(line, "%d %s %q\n", &g.id, &k, &g.Name); err != nil || g.id < firstGroupID || (k != kindLatest && k != kindVersions) {
			return nil, 0, fmt.Errorf("%w: line %q of the table of groups", store.ErrCorrupt, line)
		}
		g.Latest = k == kindLatest
		known[g.Name] = g
		next = max(next, int(g.id)+1)
	}
	return known, next, nil
}

// bounds are, by group number, at least the greatest timestamps ever put. They are
// raised in strides, because otherwise every write would have to store them.
type bounds [maxGroups]uint64

// boundStride is small compared with the range that the timestamp oracle skips when a
// program starts (txn/oracle.go), so it does not make the bounds look newer than the
// timestamps of the next transactions.
const boundStride = 1 << 16

// raise makes the bound of group number g at least ts.
func (b *bounds) raise(g int, ts uint64) {
	if ts > b[g] || b[g] == 0 {
		b[g] = min(ts|(boundStride-1), store.MaxTS)
	}
}

func (b *bounds) encode(groups []group) []byte {
	var out []byte
	for i := range groups {
		if b[i] > 0 {
			out = append(out, groups[i].id)
			out = binary.BigEndian.AppendUint64(out, b[i])
		}
	}
	return out
}

func (b *bounds) decode(groups []group, text []byte) error {
	const size = 1 + tsBytes
	if len(text)%size != 0 {
		return fmt.Errorf("%w: the bounds of timestamps have %d bytes", store.ErrCorrupt, len(text))
	}
	for ; len(text) > 0; text = text[size:] {
		for i := range groups {
			if groups[i].id == text[0] {
				b[i] = binary.BigEndian.Uint64(text[1:])
			}
		}
	}
	return nil
}

// getMeta returns the value of one of the table's own keys, nil if it has none.
func getMeta(txn *badger.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, errs.Run("reading the table's description", err)
	}
	return item.ValueCopy(nil)
}
