package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// TestFlippedByte flips one byte of one file of a table, of every kind that there
// is, at many places. Opening, or the first read, says that the
// table is corrupt, and names the file; or all that was written is there: the byte
// meant nothing. Nothing else is ever read.
func TestFlippedByte(t *testing.T) {
	rng := testenv.Random(t)
	places := 12
	if testing.Short() {
		places = 4
	}
	image := imageOfTable(t)
	kinds := map[string]string{}
	for name := range image {
		kind := filepath.Ext(name)
		if kind == "" {
			kind = filepath.Base(name)
		}
		if kind != "LOCK" && len(image[name].used) > 0 && (kinds[kind] == "" || len(image[name].used) > len(image[kinds[kind]].used)) {
			kinds[kind] = name
		}
	}
	for _, want := range []string{".sst", ".vlog", ".blob", ".mem", "MANIFEST", "KEYREGISTRY", "FORMAT", "HIGHWATER", residentName} {
		if kinds[want] == "" {
			t.Errorf("the table has no %s: %v", want, kinds)
		}
	}
	for kind, name := range kinds {
		t.Run(kind, func(t *testing.T) {
			used := len(image[name].used)
			found := 0
			for range places {
				at := rng.IntN(used)
				damaged := bytes.Clone(image[name].used)
				damaged[at] ^= byte(1 + rng.IntN(255))
				err := readImage(t, image, name, damaged)
				if err == nil {
					continue
				}
				found++
				refused := errors.Is(err, store.ErrCorrupt) || kind == "FORMAT" && (errors.Is(err, store.ErrForeign) || errors.Is(err, store.ErrNewerFormat))
				if !refused || !named(err, name, kind) {
					t.Errorf("byte %d of %d of %s flipped: %v; want ErrCorrupt, with the file's name", at, used, name, err)
				}
			}
			t.Logf("%s: %d bytes in use, %d of %d flips found, the others did no harm", name, used, found, places)
		})
	}
}

// named reports whether the error names the file or, for a large value, where Badger
// does not say which file it is, the kind of file.
func named(err error, name, kind string) bool {
	text := err.Error()
	if strings.Contains(text, string(filepath.Separator)+filepath.Base(name)) { // not the name of the test
		return true
	}
	return kind == ".vlog" && strings.Contains(text, "*.vlog")
}

const flippedRows = 60

func flippedValue(i int) string {
	if i%15 == 0 {
		return strings.Repeat(fmt.Sprint("large", i), 1<<18)
	}
	return strings.Repeat(fmt.Sprint("value", i, " "), 20)
}

// flippedGroup: values of versioned groups are in blob files if they are large, and those
// of Latest groups in Badger's value log.
func flippedGroup(i int) string {
	if i%30 == 0 {
		return "last"
	}
	return "data"
}

// imageOfTable returns the files of a table as a killed process leaves them: some
// rows in a table file, some only in the log of the memtable.
func imageOfTable(t *testing.T) image {
	t.Helper()
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	for i := range flippedRows {
		if i == flippedRows/2 {
			closeTest(t, db)
			db = openTest(t, dir, Options{})
		}
		mustMutate(t, db, fmt.Sprint("row", i), mutation(flippedGroup(i), "c", 1, flippedValue(i)))
	}
	files := image{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if strings.Contains(path, dirfile.TempSuffix) {
			return nil // VERIFIED is being replaced
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = imageFile{used: bytes.Clone(bytes.TrimRight(text, "\x00")), size: int64(len(text))}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	closeTest(t, db)
	return files
}

// image is the files of a table; most of their bytes are zeros at the end.
type image map[string]imageFile

type imageFile struct {
	used []byte
	size int64
}

// write puts the files into a directory, with one of them changed.
func (files image) write(t *testing.T, dir, changed string, to []byte) {
	t.Helper()
	for name, f := range files {
		if name == changed {
			f.used = to
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.used, 0o644), os.Truncate(path, f.size)); err != nil {
			t.Fatal(err)
		}
	}
}

// readImage opens a table with one file changed and reads it all. A wrong answer
// fails the test.
func readImage(t *testing.T, files image, changed string, to []byte) error {
	t.Helper()
	dir := t.TempDir()
	files.write(t, dir, changed, to)
	var opts Options
	if rand.IntN(2) == 0 { // verify while reading, not at once
		opts.VerifyAtOnce = -1
	}
	db, err := Open(dir, testGroups, opts)
	if err != nil {
		return err
	}
	defer db.Close()
	var wrong []string
	for i := range flippedRows {
		cells, err := db.Read(context.Background(), fmt.Append(nil, "row", i), store.Selector{Group: flippedGroup(i), Prefix: true})
		if err != nil {
			return err
		}
		if len(cells) != 1 || string(cells[0].Value) != flippedValue(i) {
			wrong = append(wrong, fmt.Sprint(i))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		t.Errorf("%s: rows that are lost or changed, without a word: %s", changed, strings.Join(wrong, " "))
	}
	return nil
}
