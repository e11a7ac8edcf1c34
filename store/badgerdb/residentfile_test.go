package badgerdb

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webindexer/indexer/store"
)

// lockCells is the set of the resident group of testGroups.
func lockCells(db *DB) map[string]uint64 {
	return maps.Clone(db.committer.residents[db.group("lock").number].cells)
}

// TestResidentFile: a table that is opened has the resident cells that it was closed with: from the
// file, and from a scan if the file is missing, damaged, or of another state of the table.
func TestResidentFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, residentName)
	read := func() []byte {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var want map[string]uint64
	reopen := func(db *DB) *DB {
		want = lockCells(db)
		closeTest(t, db)
		return openTest(t, dir, Options{})
	}
	check := func(db *DB, when string, fromFile bool) {
		t.Helper()
		if got := lockCells(db); !maps.Equal(got, want) {
			t.Errorf("%s: cells %v, want %v", when, got, want)
		}
		cells, ok := db.readResidents()[db.group("lock").id]
		if ok != fromFile || ok && !maps.Equal(cells, want) {
			t.Errorf("%s: the file has %v, %t; want %v, %t", when, cells, ok, want, fromFile)
		}
	}

	db := openTest(t, dir, Options{})
	mustMutate(t, db, "r", mutation("data", "c", 1, "v"), mutation("lock", "l", 7, "v"))
	mustMutate(t, db, "s", mutation("lock", "l", 8, "v"))
	db = reopen(db)
	check(db, "two locks", true)
	first := read()

	mustMutate(t, db, "r", store.Mutation{Op: store.Delete, Group: "lock", Column: []byte("l"), TS: 7})
	mustMutate(t, db, "t", mutation("lock", "l", 9, "v"))
	killed := copyOpen(t, dir)
	db = reopen(db)
	check(db, "another lock", true)
	closeTest(t, db)
	second := read()

	for when, content := range map[string][]byte{"an earlier state": first, "cut": second[:len(second)-1], "empty": {}, "another format": append([]byte("x"), second[1:]...)} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		db = openTest(t, dir, Options{})
		check(db, when, false)
		closeTest(t, db)
	}
	db = openTest(t, killed, Options{})
	check(db, "killed with the file of an earlier state", false)
	closeTest(t, db)
}

// FuzzParseResidents reads anything as the file: it is refused, or it has cells.
func FuzzParseResidents(f *testing.F) {
	f.Add([]byte(residentMagic))
	f.Add(append([]byte(residentMagic), make([]byte, 12)...))
	one := append([]byte(residentMagic), make([]byte, 12)...)
	for _, n := range []byte{1, 0x81, 1} { // groups, id, cells
		one = append(one, 0, 0, 0, n)
	}
	one = append(one, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 'k')
	if got := parseResidents(withSum(one, 0), 0, 0); len(got) != 1 || got[0x81]["k"] != 7 {
		f.Fatalf("one cell: %v", got)
	}
	f.Add(one)
	f.Fuzz(func(t *testing.T, body []byte) {
		for id, cells := range parseResidents(withSum(slices.Clone(body), 0), 0, 0) {
			if cells == nil {
				t.Errorf("group %d has no set", id)
			}
		}
	})
}
