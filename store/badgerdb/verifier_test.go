package badgerdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/klauspost/compress/snappy"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// closedTable makes a directory with some tables, and closes it. The values do not
// compress, so that the tables have many blocks.
func closedTable(t *testing.T) (dir string, want map[string]string) {
	t.Helper()
	dir, want = t.TempDir(), map[string]string{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		db := openTest(t, dir, Options{})
		for range 300 {
			value := make([]byte, 200)
			for i := range value {
				value[i] = 'a' + byte(rnd.Uint32()%26)
			}
			row := fmt.Sprintf("row%03d", len(want))
			want[row] = string(value)
			mustMutate(t, db, row, mutation("data", "c", 1, string(value)))
		}
		closeTest(t, db)
	}
	return dir, want
}

func tableFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, dirfile.Badger, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("table files: %v, %v", files, err)
	}
	return files
}

// flipByte changes a byte of a file in place.
func flipByte(t *testing.T, file string, at int64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 1
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestVerifiedOnce checks that a table file is verified again only if it was touched or
// the record does not vouch for it.
func TestVerifiedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		left   func(all int) int // to be verified
	}{
		"unchanged":  {func(*testing.T, string) {}, func(int) int { return 0 }},
		"no record":  {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, verifiedName)) }, func(all int) int { return all }},
		"bad record": {func(t *testing.T, dir string) { flipByte(t, filepath.Join(dir, verifiedName), 30) }, func(all int) int { return all }},
		"copied file": {func(t *testing.T, dir string) {
			file := tableFiles(t, dir)[0]
			text, err := os.ReadFile(file)
			if err := errors.Join(err, os.Remove(file), os.WriteFile(file, text, 0o666)); err != nil {
				t.Fatal(err)
			}
		}, func(int) int { return 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := closedTable(t)
			all := len(tableFiles(t, dir))
			c.change(t, dir)
			db := openTest(t, dir, Options{VerifyAtOnce: -1})
			if got := len(db.verify.tables); got != c.left(all) {
				t.Errorf("%d of %d tables are to be verified, want %d", got, all, c.left(all))
			}
			for row, value := range want {
				if got := readRow(t, db, row); got != fmt.Sprintf("data:c@1=%.20s", value) {
					t.Fatalf("%s: %q", row, got)
				}
			}
			closeTest(t, db)
			db = openTest(t, dir, Options{VerifyAtOnce: -1})
			defer closeTest(t, db)
			if got := len(db.verify.tables); got != 0 {
				t.Errorf("%d tables are to be verified once more", got)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsToldWhileOpen flips a byte of a table file that is verified only when it is
// read, or in the background. Each read has the right answer or fails with the name of the
// file; scans and missing rows too. In the end every call fails.
func TestDamageIsToldWhileOpen(t *testing.T) {
	image, want := closedTable(t)
	rnd := testenv.Random(t)
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(image)); err != nil {
			t.Fatal(err)
		}
		files := tableFiles(t, dir)
		file := files[rnd.IntN(len(files))]
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		flipByte(t, file, rnd.Int64N(info.Size()))
		db, err := Open(dir, testGroups, Options{VerifyAtOnce: -1})
		if err != nil {
			wantNamed(t, err, filepath.Base(file))
			continue
		}
		for range 50 {
			row := fmt.Sprintf("row%03d", rnd.IntN(2*len(want))) // half are not there
			cells, err := db.Read(t.Context(), []byte(row), store.Selector{Group: "data", Prefix: rnd.IntN(2) == 0, Column: []byte("c")})
			switch {
			case err != nil:
				wantNamed(t, err, filepath.Base(file))
			case len(cells) > 1, len(cells) == 1 != (want[row] != ""), len(cells) == 1 && string(cells[0].Value) != want[row]:
				t.Errorf("%s: %d cells, a wrong answer without an error", row, len(cells))
			}
		}
		if _, err := countCells(t.Context(), db); err == nil {
			if got, want := decodedBlocks(t, file), decodedBlocks(t, filepath.Join(image, dirfile.Badger, filepath.Base(file))); !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("a scan of a table with a damaged file met no error, and its blocks are not those that were written")
			}
			closeTest(t, db)
			continue
		} else {
			wantNamed(t, err, filepath.Base(file))
		}
		_, err = db.Mutate(t.Context(), store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{mutation("data", "c", 2, "v")}})
		wantNamed(t, err, filepath.Base(file))
		wantNamed(t, db.Close(), filepath.Base(file))
	}
}

// decodedBlocks returns the blocks of a table file, decompressed and not checked. Checksums
// are of decompressed blocks, so a flipped bit that decompresses to the same bytes, such as
// one that makes Snappy copy them from elsewhere, is no damage.
func decodedBlocks(t *testing.T, file string) (blocks [][]byte) {
	t.Helper()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rest := whole
	last := func() []byte { // what has its length after it
		end := len(rest) - 4
		from := end - int(binary.BigEndian.Uint32(rest[end:]))
		text := rest[from:end]
		rest = rest[:from]
		return text
	}
	last() // the checksum of the index
	index := fb.GetRootAsTableIndex(last(), 0)
	for i := range index.OffsetsLength() {
		var at fb.BlockOffset
		if !index.Offsets(&at, i) {
			t.Fatalf("%s: no block %d", file, i)
		}
		text := whole[at.Offset():][:at.Len()]
		block, err := snappy.Decode(nil, text)
		if err != nil {
			t.Fatalf("%s: block %d: %v", file, i, err)
		}
		blocks = append(blocks, block)
	}
	return blocks
}

func countCells(ctx context.Context, db *DB) (n int, err error) {
	_, err = db.Scan(ctx, store.Range{Group: "data"}, func(store.Cell) error {
		n++
		return nil
	})
	return n, err
}

// TestRecordAfterKill checks that what a killed process leaves is verified, if the record
// does not know it yet, and that the record of before still holds.
func TestRecordAfterKill(t *testing.T) {
	dir, want := closedTable(t)
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "late", mutation("data", "c", 1, "v"))
	if err := db.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	killed := t.TempDir()
	for _, name := range []string{"", dirfile.Badger} { // links: the files stay the same ones
		if err := os.MkdirAll(filepath.Join(killed, name), 0o777); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				copyFile(t, filepath.Join(dir, name, e.Name()), filepath.Join(killed, name, e.Name()))
			}
		}
	}
	closeTest(t, db)
	db = openTest(t, killed, Options{VerifyAtOnce: -1})
	defer closeTest(t, db)
	if len(db.verify.tables) == 0 {
		t.Error("nothing is to be verified of files that are new")
	}
	if n, err := countCells(t.Context(), db); err != nil || n != len(want)+1 {
		t.Errorf("%d cells, %v; want %d", n, err, len(want)+1)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err := errors.Join(err, os.WriteFile(to, text, 0o666)); err != nil {
		t.Fatal(err)
	}
}

// FuzzVerified feeds the parser of the record. What it accepts is what formatVerified
// writes, but for the order of lines.
func FuzzVerified(f *testing.F) {
	f.Add(formatVerified(nil))
	f.Add(formatVerified(map[uint64]verifiedTable{3: {system.Identity{Size: 1, Modified: 2, Changed: 3, Inode: 4}, 5}}))
	f.Fuzz(func(t *testing.T, text string) {
		tables := parseVerified(text)
		if again := parseVerified(formatVerified(tables)); len(again) != len(tables) {
			t.Errorf("%d tables, and %d when they are read again", len(tables), len(again))
		}
		for id, table := range tables {
			if again := parseVerified(formatVerified(tables))[id]; again != table {
				t.Errorf("table %d: %v, then %v", id, table, again)
			}
		}
	})
}

// TestUnwritableRecord: a table is closed even if the record of verified tables cannot be written.
func TestUnwritableRecord(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	db.verify.stop()
	record := filepath.Join(dir, verifiedName)
	if err := errors.Join(os.RemoveAll(record), os.MkdirAll(filepath.Join(record, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	closeTest(t, db)
	if err := os.RemoveAll(record); err != nil {
		t.Fatal(err)
	}
	db = openTest(t, dir, Options{})
	if readRow(t, db, "row") == "" {
		t.Error("the row is lost")
	}
	closeTest(t, db)
}

// TestSoundBesideStart: Badger may begin a compaction, which asks whether all tables are sound,
// before Open has told the verifier the ranges of keys. The race detector compares the two.
func TestSoundBesideStart(t *testing.T) {
	dir, _ := closedTable(t)
	remove(t, filepath.Join(dir, verifiedName))
	list, err := manifest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(dir, silent{})
	if _, err := v.open(list, -1); err != nil {
		t.Fatal(err)
	}
	var compaction sync.WaitGroup
	compaction.Go(func() {
		if !v.sound() {
			t.Error("intact tables are not sound")
		}
	})
	v.start(nil)
	compaction.Wait()
	v.stop()
	if n := v.left.Load(); n != 0 {
		t.Errorf("%d tables are not verified", n)
	}
}
