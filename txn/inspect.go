package txn

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/webindexer/indexer/store"
)

// The kinds of records, as Record.Kind names them.
const (
	KindWrite           = "write"
	KindData            = "data"
	KindRollback        = "rollback"
	KindLockRecord      = "lock record"
	KindLock            = "lock"
	KindNotification    = "notification"
	KindAcknowledgement = "acknowledgement"
	KindReadLock        = "read lock"
)

// Record is one record of the protocol as it is stored, for people who inspect the table.
// docs/format-txn.md describes the kinds.
type Record struct {
	Kind string
	Cell Cell
	TS   uint64
	// Op is put, delete, lock or read, for a write, a lock record or a lock.
	Op string
	// Start is the start timestamp of the transaction that wrote the record; 0 for a
	// notification, which does not store it.
	Start uint64
	// Value is the value of a write or lock that holds it, or of data. Inline reports which.
	Value    []byte
	Inline   bool
	Observer string // of a notification or acknowledgement

	// For a lock: the transaction's primary, the owner's token, the time at which the
	// owner last showed that it is alive, and the runs that the transaction acknowledges.
	Primary Cell
	Owner   string
	Alive   time.Time
	Runs    []string

	// Damage says why the record cannot be read. The other fields may then be empty.
	Damage error
}

// LockGroup, NotifyGroup, LeasedGroup, AckGroup and ReadGroup are the names of Records for the groups
// of the protocol.
const (
	LockGroup   = lockGroup
	NotifyGroup = notifyGroup
	LeasedGroup = leasedGroup
	AckGroup    = ackGroup
	ReadGroup   = readGroup
)

// MetaGroup is the group for everything in the protocol that is not about one cell.
// docs/format-txn.md lists its rows. Package oracle also keeps its rows there.
const MetaGroup = metaGroup

// Records calls fn for the records of a group as they are stored, in the rows of [start,
// end); an empty end is the end of the group. Rows ascend. Within a row, records are
// ordered by kind and name, and then from the newest timestamp to the oldest. Records
// resolves no locks. It sees the table at one instant if the store supports it.
func (db *DB) Records(ctx context.Context, group, start, end string, fn func(Record) error) error {
	if group == metaGroup {
		return fmt.Errorf("txn: the group %s has no records", group)
	}
	reader, done := db.instant()
	defer done()
	for from := []byte(start); ; {
		next, err := reader.Scan(ctx, store.Range{Group: group, Start: from, End: bound(end), MaxCells: scanPage}, func(c store.Cell) error {
			return fn(describeRecord(c))
		})
		if err != nil {
			return fmt.Errorf("txn: records of %s from %q: %w", group, from, err)
		}
		if next == nil {
			return nil
		}
		from = next
	}
}

// instant returns a reader of one instant, if the store has one.
func (db *DB) instant() (r store.Reader, done func()) {
	if db.snapshots == nil {
		return db.table, func() {}
	}
	s := db.snapshots.Snapshot()
	return s, s.Close
}

func describeRecord(c store.Cell) Record {
	r := Record{TS: c.TS, Cell: Cell{Row: string(c.Row)}}
	switch c.Group {
	case lockGroup:
		r.describeLock(c)
	case readGroup:
		var ok bool
		r.Kind = KindReadLock
		if r.Cell.Column, ok = parseSideColumn(c.Column); !ok {
			r.Damage = fmt.Errorf("column %q names no column: %w", c.Column, store.ErrCorrupt)
		}
	case notifyGroup, leasedGroup, ackGroup:
		var ok bool
		r.Kind = KindNotification
		if c.Group == ackGroup {
			r.Kind, r.Start = KindAcknowledgement, c.TS
		}
		if r.Cell.Column, r.Observer, ok = parseObserverColumn(c.Column); !ok {
			r.Damage = fmt.Errorf("column %q names no observer: %w", c.Column, store.ErrCorrupt)
		}
	default:
		r.describeCell(c)
	}
	return r
}

func (r *Record) describeLock(c store.Cell) {
	r.Kind = KindLock
	var ok bool
	if r.Cell.Column, ok = parseSideColumn(c.Column); !ok {
		r.Damage = fmt.Errorf("column %q names no column: %w", c.Column, store.ErrCorrupt)
		return
	}
	l, err := decodeLock(c)
	if err != nil {
		r.Damage = err
		return
	}
	r.Op, r.Start, r.Value, r.Inline = l.op.String(), l.start, l.value, l.inline
	r.Primary, r.Owner, r.Alive, r.Runs = l.primary, l.token, l.wall, l.acks
}

func (r *Record) describeCell(c store.Cell) {
	r.Cell.Group = c.Group
	if len(c.Column) == 0 {
		r.Damage = fmt.Errorf("a column without a kind: %w", store.ErrCorrupt)
		return
	}
	r.Cell.Name = string(c.Column[1:])
	switch c.Column[0] {
	case kindData:
		r.Kind, r.Start, r.Value = KindData, c.TS, c.Value
		return
	case kindRollback:
		r.Kind, r.Start = KindRollback, c.TS
		return
	case kindWrite:
		r.Kind = KindWrite
	case kindLockOnly:
		r.Kind = KindLockRecord
	default:
		r.Damage = fmt.Errorf("a column of the unknown kind %q: %w", c.Column[0], store.ErrCorrupt)
		return
	}
	w, err := decodeWrite(c.Value)
	if err != nil {
		r.Damage = err
		return
	}
	r.Op, r.Start, r.Value, r.Inline = w.op.String(), w.start, w.value, w.inline
}

// String names the operation.
func (o op) String() string { return [...]string{"put", "delete", "lock", "read"}[o] }

// AppGroups lists the groups of the application.
func (db *DB) AppGroups() (names []string) {
	for _, g := range db.table.Groups() {
		if !strings.HasPrefix(g.Name, "~") {
			names = append(names, g.Name)
		}
	}
	return names
}
