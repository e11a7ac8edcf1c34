package txn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestCheck damages a sound table in one way after the other: each is found at its
// place, and nothing else is.
func TestCheck(t *testing.T) {
	ctx := t.Context()
	put := func(group, column string, ts uint64, value []byte) store.Mutation {
		return store.Mutation{Op: store.Put, Group: group, Column: []byte(column), TS: ts, Value: value}
	}
	write := func(ts, start uint64, o op, inline bool) store.Mutation {
		return put("app", "wc", ts, writeRecord{op: o, start: start, inline: inline}.encode())
	}
	lock := func(start uint64, l lockRecord) store.Mutation {
		return put(lockGroup, "app\x00c", start, l.encode())
	}
	own := Cell{"row", app("c")}
	for _, tc := range []struct {
		name string
		row  string
		m    []store.Mutation
		want string // "" for none
	}{
		{"sound", "row", []store.Mutation{write(12, 11, opPut, true), write(14, 13, opDelete, false)}, ""},
		{"a value that is there", "row", []store.Mutation{write(12, 11, opPut, false), put("app", "dc", 11, []byte("v"))}, ""},
		{"a value that is missing", "row", []store.Mutation{write(12, 11, opPut, false)}, `app "row" c at 12: a write points to a missing value at 11`},
		{"a write before its start", "row", []store.Mutation{write(12, 13, opPut, true)}, `app "row" c at 12: a write of a transaction that started at 13, not before`},
		{"a lost update", "row", []store.Mutation{write(12, 10, opPut, true), write(14, 11, opPut, true)}, `app "row" c at 14: a write of a transaction that started at 11 and cannot have seen the one at 12`},
		{"committed twice", "row", []store.Mutation{write(12, 10, opPut, true), write(14, 10, opPut, true)}, `app "row" c at 14: the transaction 10 has committed twice here, also at 12`},
		{"committed and rolled back", "row", []store.Mutation{write(12, 11, opPut, true), put("app", "rc", 11, nil)}, `app "row" c at 12: a write of the transaction 11, which was rolled back here`},
		{"a write that locks", "row", []store.Mutation{write(12, 11, opLock, false)}, `app "row" c at 12: a write that only locks`},
		{"a write that only reads", "row", []store.Mutation{write(12, 11, opRead, false)}, `app "row" c at 12: a write that only locks`},
		{"locked and rolled back", "row", []store.Mutation{put("app", "kc", 12, writeRecord{op: opLock, start: 11}.encode()), put("app", "rc", 11, nil)}, `app "row" c at 12: a commit of the transaction 11, which was rolled back here`},
		{"a record that cannot be read", "row", []store.Mutation{put("app", "wc", 12, []byte("x"))}, `app "row" c at 12: write record of 1 bytes`},
		{"a kind that there is not", "row", []store.Mutation{put("app", "zc", 12, nil)}, `app "row" c at 12: a column of the unknown kind 'z'`},
		{"from the future", "row", []store.Mutation{write(1<<60, 11, opPut, true)}, `app "row" c at 1152921504606846976: a timestamp that was never handed out`},
		{"a row that is none", "bad", []store.Mutation{write(12, 11, opPut, true)}, `app "bad": the row's key: it is bad`},
		{"a lock", "row", []store.Mutation{lock(11, lockRecord{op: opDelete, primary: own})}, ""},
		{"a lock of what committed", "row", []store.Mutation{lock(11, lockRecord{op: opDelete, primary: own}), write(12, 11, opDelete, false)}, `~lock "row" c at 11: a lock of the transaction 11, which has committed here at 12`},
		{"a lock without its value", "row", []store.Mutation{lock(11, lockRecord{op: opPut, primary: own})}, `~lock "row" c at 11: a lock that refers to a missing value`},
		{"a primary nowhere", "row", []store.Mutation{lock(11, lockRecord{op: opDelete, primary: Cell{"row", Column{"gone", "c"}}})}, `~lock "row" c at 11: the lock's primary is in "gone", a table that does not exist`},
		{"a primary of another", "row", []store.Mutation{lock(11, lockRecord{op: opDelete, primary: Cell{"row", app("other")}}),
			put(lockGroup, "app\x00other", 11, lockRecord{op: opDelete, primary: Cell{"x", app("x")}}.encode())},
			`~lock "row" c at 11: the lock names the primary row app:other, which names x app:x as its own`},
		{"a notification", "row", []store.Mutation{put(notifyGroup, "o\x00app\x00c", 12, nil), put(ackGroup, "o\x00app\x00c", 12, nil)}, ""},
		{"a notification for nobody", "row", []store.Mutation{put(notifyGroup, "o\x00app\x00x", 12, nil)}, `~notify "row" x at 12: notification of o, which does not observe app:x`},
		{"a read lock", "row", []store.Mutation{put(readGroup, "app\x00c", 12, nil)}, ""},
		{"a read lock nowhere", "row", []store.Mutation{put(readGroup, "gone\x00c", 12, nil)}, `~read "row" c at 12: a record of a read lock in gone, a table that does not exist`},
		{"a read lock of nothing", "row", []store.Mutation{put(readGroup, "app", 12, nil)}, `~read "row" at 12: column "app" names no column`},
		{"a read lock from the future", "row", []store.Mutation{put(readGroup, "app\x00c", 1<<60, nil)}, `~read "row" c at 1152921504606846976: a timestamp that was never handed out`},
		{"a weak one's acknowledgement", "row", []store.Mutation{put(ackGroup, "weak\x00app\x00c", 12, nil)}, `~ack "row" c at 12: acknowledgement of weak, which never acknowledges`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table := openMem(t, Groups("app"))
			defer closeTable(t, table)
			db := open(t, table, Options{})
			if err := table.Apply(ctx, []store.RowMutation{{Row: []byte(tc.row), Mutations: tc.m}}); err != nil {
				t.Fatal(err)
			}
			var found []string
			n, err := db.Check(ctx, CheckOptions{
				Row: func(_, row string) error {
					if row == "bad" {
						return fmt.Errorf("it is bad")
					}
					return nil
				},
				Observes: func(c Column, o string) (bool, bool) { return c == app("c"), o != "weak" },
			}, func(p Problem) { found = append(found, p.String()) })
			if err != nil || n.Records == 0 {
				t.Fatal(n, err)
			}
			// A broken primary is itself one of the damages of its case.
			found = slices.DeleteFunc(found, func(s string) bool { return strings.HasPrefix(s, `~lock "row" other`) })
			switch {
			case tc.want == "" && len(found) > 0, tc.want != "" && (len(found) != 1 || !strings.HasPrefix(found[0], tc.want)):
				t.Errorf("found %q, want %q", found, tc.want)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// changingTable has no snapshots, and changes before the first read of a row.
type changingTable struct {
	store.Table
	change func() error
}

func (c *changingTable) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if change := c.change; change != nil {
		c.change = nil
		if err := change(); err != nil {
			return nil, err
		}
	}
	return c.Table.Read(ctx, row, sel...)
}

// TestCheckBesideCommit: on a table without snapshots, a transaction may commit, or be rolled
// back, after its lock was read.
func TestCheckBesideCommit(t *testing.T) {
	ctx := t.Context()
	unlock := store.Mutation{Op: store.Delete, Group: lockGroup, Column: []byte("app\x00c"), TS: 11}
	value := store.Mutation{Op: store.Put, Group: "app", Column: []byte("dc"), TS: 11, Value: []byte("v")}
	forget := store.Mutation{Op: store.Delete, Group: "app", Column: []byte("dc"), TS: 11}
	record := func(column string, ts uint64, value []byte) store.Mutation {
		return store.Mutation{Op: store.Put, Group: "app", Column: []byte(column), TS: ts, Value: value}
	}
	lock := store.Mutation{Op: store.Put, Group: lockGroup, Column: []byte("app\x00c"), TS: 11, Value: lockRecord{op: opPut, primary: Cell{"row", app("c")}}.encode()}
	for name, end := range map[string][]store.Mutation{
		"committed":   {unlock, record("wc", 12, writeRecord{op: opPut, start: 11}.encode())},
		"rolled back": {unlock, forget, record("rc", 11, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			table := openMem(t, Groups("app"))
			defer closeTable(t, table)
			write := func(ms ...store.Mutation) error {
				return table.Apply(ctx, []store.RowMutation{{Row: []byte("row"), Mutations: ms}})
			}
			if err := write(lock, value); err != nil {
				t.Fatal(err)
			}
			changing := &changingTable{Table: table}
			db := open(t, changing, Options{})
			changing.change = func() error { return write(end...) }
			n, err := db.Check(ctx, CheckOptions{}, func(p Problem) { t.Errorf("found %s", p) })
			if err != nil || n.Locks != 1 {
				t.Errorf("%+v, %v", n, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
