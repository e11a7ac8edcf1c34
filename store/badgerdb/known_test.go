package badgerdb

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// knownCells are what TestKnown has written, by row and column.
type knownCells map[string]string

const (
	knownRows    = 60
	knownColumns = 3
)

// check reads every column by its name, and every row.
func (want knownCells) check(t *testing.T, r store.Reader) {
	t.Helper()
	for i := range knownRows {
		row := fmt.Sprint("row", i)
		some := 0
		for c := range knownColumns {
			column := fmt.Sprint(c)
			got, err := r.Read(t.Context(), []byte(row), store.Selector{Group: "data", Column: []byte(column), Newest: 1})
			value, there := want[row+"/"+column]
			if err != nil || len(got) > 1 || there != (len(got) == 1) || there && string(got[0].Value) != value {
				t.Fatalf("row %s, column %s: %v, %v; want %q, %v", row, column, got, err, value, there)
			}
			if there {
				some++
			}
		}
		got, err := r.Read(t.Context(), []byte(row), store.Selector{Group: "data", Prefix: true})
		if err != nil || len(got) != some {
			t.Fatalf("row %s has %d cells, %v; want %d", row, len(got), err, some)
		}
	}
}

// TestKnown compares a table with a map while its filter is read from the file, made by a
// scan that runs with old snapshots, or missing. The filter never hides a cell, and it
// answers most look-ups of absent cells.
func TestKnown(t *testing.T) {
	rng := testenv.Random(t)
	dir := t.TempDir()
	opts := Options{HintCells: -1, NewestCells: 1, MinFreeBytes: -1} // nothing else answers
	db := openTest(t, dir, opts)
	defer func() { closeTest(t, db) }()
	want := knownCells{}
	for step := range testenv.Size(200, 600, 20_000) {
		row, column := fmt.Sprint("row", rng.IntN(knownRows)), fmt.Sprint(rng.IntN(knownColumns))
		switch n := rng.IntN(100); {
		case n < 40:
			value := fmt.Sprint(step)
			mustMutate(t, db, row, store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte(column), TS: uint64(step)}, mutation("data", column, uint64(step+1), value))
			want[row+"/"+column] = value
		case n < 80:
			mustMutate(t, db, row, store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte(column), TS: uint64(step + 1)})
			delete(want, row+"/"+column)
		case n < 90:
			want.check(t, db)
		case n < 96:
			was, before := db.Snapshot(), maps.Clone(want)
			mustMutate(t, db, row, store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte(column), TS: uint64(step + 1)})
			delete(want, row+"/"+column)
			if err := db.scanKnown(t.Context()); err != nil {
				t.Fatal(err)
			}
			before.check(t, was)
			want.check(t, db)
			was.Close()
		default:
			closeTest(t, db)
			if rng.IntN(2) == 0 {
				if err := ignoreGone(os.Remove(filepath.Join(dir, knownName))); err != nil {
					t.Fatal(err)
				}
			}
			db = openTest(t, dir, opts)
		}
	}
	if err := db.scanKnown(t.Context()); err != nil {
		t.Fatal(err)
	}
	want.check(t, db)
	v := db.views.acquire()
	defer db.views.release(v)
	wrong := 0
	for i := range 1000 {
		if g := db.group("data"); !v.lacks(g.head(fmt.Append(nil, "none", i), []byte("c"))) {
			wrong++
		}
	}
	if wrong > 20 {
		t.Errorf("%d of 1000 rows that are not there seem to be", wrong)
	}
}

// TestKnownLayers fills a filter far beyond its first layer.
func TestKnownLayers(t *testing.T) {
	k := newKnown(1<<20, nil)
	n := testenv.Size(250_000, 400_000, 4_000_000)
	name := func(i int) []byte { return fmt.Append(nil, "name", i) }
	for i := range n {
		k.add(name(i))
	}
	wrong := 0
	for i := range n {
		if !k.has(name(i)) {
			t.Fatalf("%d of %d is missing", i, n)
		}
		if i < 20_000 && k.has(name(-i-1)) {
			wrong++
		}
	}
	if layers := len(*k.layers.Load()); layers != 3 || n <= 400_000 && wrong > 20_000/20 {
		t.Errorf("%d layers, %d of 20,000 others seem to be there", layers, wrong)
	}
}

// TestKnownOfAnotherState: a file of an earlier state of the table is not used: it does not
// have what was written since.
func TestKnownOfAnotherState(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, knownName)
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "one", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db = openTest(t, dir, Options{})
	if db.known.Load() == nil {
		t.Error("the filter was not read")
	}
	mustMutate(t, db, "two", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	if now, err := os.ReadFile(file); err != nil || bytes.Equal(now, old) {
		t.Fatalf("the filter was not written: %v", err)
	}
	damaged := bytes.Clone(old)
	damaged[len(damaged)/2] ^= 1
	for _, text := range [][]byte{old, damaged, nil} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		db = openTest(t, dir, Options{})
		if db.known.Load() != nil {
			t.Error("the file is not of this state, and was used")
		}
		if got := readRow(t, db, "two"); got != "data:c@1=v" {
			t.Errorf("the row has %q", got)
		}
		closeTest(t, db)
	}
}

// TestKnownOfScannedGroups: a group that is only scanned is not in the filter. When it is
// declared otherwise, its cells are found, with a filter of all groups or without one.
func TestKnownOfScannedGroups(t *testing.T) {
	dir := t.TempDir()
	opened := func(scanned bool) *DB {
		db, err := Open(dir, []store.GroupSpec{{Name: "data", Scanned: scanned}, {Name: "meta"}}, Options{MinFreeBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	rows := 0
	for i, step := range []struct{ scanned, filter, has bool }{
		{true, true, false},  // a new table
		{true, true, false},  // the file serves the same groups
		{false, false, true}, // it would hide what was written before
		{false, true, true},  // none was written meanwhile, so this one scans
		{true, true, false},  // the filter lacks what is written now
		{false, false, true},
	} {
		db := opened(step.scanned)
		if got := db.known.Load() != nil; got != step.filter {
			t.Errorf("step %d: opened with a filter: %v, want %v", i, got, step.filter)
		}
		row := fmt.Sprint("row", rows)
		rows++
		mustMutate(t, db, row, mutation("data", "c", 1, "v"))
		if !step.filter { // as if many reads had found nothing
			if err := db.scanKnown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := db.known.Load().has(db.group("data").head([]byte(row), []byte("c"))); got != step.has {
			t.Errorf("step %d: the filter has the row: %v, want %v", i, got, step.has)
		}
		for n := range rows {
			for _, sel := range []store.Selector{{Group: "data", Column: []byte("c"), Newest: 1}, {Group: "data", Prefix: true}} {
				if got, err := db.Read(t.Context(), fmt.Append(nil, "row", n), sel); err != nil || len(got) != 1 {
					t.Errorf("step %d: row %d has %d cells, %v", i, n, len(got), err)
				}
			}
		}
		closeTest(t, db)
	}
}

// TestKnownIsMadeAgain: reads that find nothing start the scan that makes the filter.
func TestKnownIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "one", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	if err := os.Remove(filepath.Join(dir, knownName)); err != nil {
		t.Fatal(err)
	}
	counted := &DB{wantKnown: make(chan struct{}, 1)}
	for range knownMisses - 1 {
		counted.foundNothing()
	}
	if len(counted.wantKnown) > 0 {
		t.Error("the scan begins too early")
	}
	counted.foundNothing()
	if len(counted.wantKnown) != 1 {
		t.Error("the scan does not begin")
	}
	db = openTest(t, dir, Options{})
	defer closeTest(t, db) // ends the scan
	for i := range 2 * knownMisses {
		for row, want := range map[string]int{"one": 1, fmt.Sprint("none", i): 0} {
			cells, err := db.Read(t.Context(), []byte(row), store.Selector{Group: "data", Column: []byte("c"), Newest: 1})
			if err != nil || len(cells) != want {
				t.Fatalf("row %s: %d cells, %v", row, len(cells), err)
			}
		}
	}
}

// TestKnownRecords: closings after few changes append to the file, which is written anew when it would
// grow by an eighth.
func TestKnownRecords(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, knownName)
	read := func() []byte {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	closeTest(t, openTest(t, dir, Options{}))
	appended, anew := 0, 0
	rows := 0
	for before := read(); anew < 2; {
		db := openTest(t, dir, Options{})
		k := db.known.Load()
		if k == nil {
			t.Fatalf("after %d records, the filter was not read", appended)
		}
		for row := range rows {
			if !k.has(db.group("data").head(fmt.Append(nil, "row", row), []byte("c"))) {
				t.Fatalf("after %d records, the filter lacks row %d of %d", appended, row, rows)
			}
		}
		for range 100 {
			mustMutate(t, db, fmt.Sprint("row", rows), mutation("data", "c", 1, "v"))
			rows++
		}
		closeTest(t, db)
		now := read()
		if bytes.HasPrefix(now, before) {
			appended++
		} else {
			anew++
		}
		if limit := len(before) + len(before)/knownTail + 1000; len(now) > limit {
			t.Fatalf("the file has grown from %d to %d bytes", len(before), len(now))
		}
		before = now
	}
	if appended < 4 {
		t.Errorf("%d records, before the file was written anew twice", appended)
	}
}

func FuzzParseKnown(f *testing.F) {
	dir := f.TempDir()
	k := newKnown(knownFirst, nil)
	k.add([]byte("a"))
	if err := k.write(dir, 7, 8); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, knownName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:60])
	if k = parseKnown(text, 7, 8, 1); k == nil {
		f.Fatal("the file is not read")
	}
	k.add([]byte("c"))
	if appended, err := k.appendRecord(dir, 9, 10); !appended || err != nil {
		f.Fatal(appended, err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, knownName)); err != nil {
		f.Fatal(err)
	}
	if k = parseKnown(text, 9, 10, 1); k == nil || !k.has([]byte("c")) {
		f.Fatal("the record is not read")
	}
	if parseKnown(text, 7, 8, 1) != nil {
		f.Fatal("a file with a record is read as of the state before it")
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if k := parseKnown(text, 7, 8, 1); k != nil {
			k.add([]byte("b"))
			if !k.has([]byte("b")) {
				t.Error("what was added is missing")
			}
		}
	})
}
