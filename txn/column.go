package txn

import (
	"strings"

	"github.com/webindexer/indexer/store"
)

// Column names a column of the application: a locality group and a name in it.
// Names may hold any bytes; group names must not start with "~".
type Column struct {
	Group string
	Name  string
}

// String is group:name, for messages.
func (c Column) String() string { return c.Group + ":" + c.Name }

// Cell names one cell of the application.
type Cell struct {
	Row string
	Column
}

// String is row group:name, for messages.
func (c Cell) String() string { return c.Row + " " + c.Column.String() }

// The locality groups of the protocol itself.
const (
	lockGroup   = "~lock"
	notifyGroup = "~notify"
	leasedGroup = "~notify-leased"
	ackGroup    = "~ack"
	readGroup   = "~read"
	metaGroup   = "~meta"
)

// The kinds of record that a column has in its own group; each is the first byte of the
// store's column name.
const (
	kindWrite    = 'w'
	kindData     = 'd'
	kindRollback = 'r'
	kindLockOnly = 'k'
)

// Groups lists the locality groups with which a table must be opened to hold an
// application with these groups.
func Groups(app ...string) []store.GroupSpec {
	specs := []store.GroupSpec{
		{Name: metaGroup, Latest: true},
		{Name: lockGroup, Latest: true, Resident: true},
		{Name: notifyGroup, Latest: true, Resident: true, OwnTable: true}, // empty while the observers keep up
		{Name: leasedGroup, Latest: true, Resident: true, OwnTable: true}, // after notifyGroup: engines may depend on the order
		{Name: ackGroup, Latest: true},
		{Name: readGroup, Latest: true},
	}
	for _, name := range app {
		specs = append(specs, store.GroupSpec{Name: name})
	}
	return specs
}

// recordColumn is the store's column for one kind of record of an application
// column.
func recordColumn(kind byte, name string) []byte {
	b := make([]byte, 0, 1+len(name))
	b = append(b, kind)
	return append(b, name...)
}

// sideColumn is the column that represents c in the groups of the protocol.
func sideColumn(c Column) []byte {
	b := make([]byte, 0, len(c.Group)+1+len(c.Name))
	b = append(b, c.Group...)
	b = append(b, 0)
	return append(b, c.Name...)
}

// parseSideColumn is the inverse of sideColumn.
func parseSideColumn(b []byte) (Column, bool) {
	group, name, ok := strings.Cut(string(b), "\x00")
	return Column{Group: group, Name: name}, ok
}

// observerColumn is the column that represents c and one observer of it. The
// observer comes first, because its name has no zero byte and a column's name may have one.
func observerColumn(c Column, observer string) []byte {
	b := make([]byte, 0, len(observer)+1+len(c.Group)+1+len(c.Name))
	b = append(b, observer...)
	b = append(b, 0)
	b = append(b, c.Group...)
	b = append(b, 0)
	return append(b, c.Name...)
}

// parseObserverColumn is the inverse of observerColumn.
func parseObserverColumn(b []byte) (c Column, observer string, ok bool) {
	observer, rest, ok := strings.Cut(string(b), "\x00")
	if !ok {
		return Column{}, "", false
	}
	c, ok = parseSideColumn([]byte(rest))
	return c, observer, ok
}
