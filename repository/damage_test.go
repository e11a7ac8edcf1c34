package repository_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// TestFlippedByte changes one byte of a table file of the store. Opening the repository
// then returns an error that says so, or, if the byte does not matter, the right
// answer; never a wrong one, and no panic.
func TestFlippedByte(t *testing.T) {
	flips := testenv.Size(6, 10, 60)
	rnd := testenv.Random(t)
	dir, want := filled(t)
	tables, err := filepath.Glob(filepath.Join(dir, "store/badger/*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no table files: %v", err)
	}
	image, found := readDataImage(t, dir), 0
	for range flips {
		table := tables[rnd.IntN(len(tables))]
		at, bit := rnd.IntN(size(t, table)), byte(1)<<rnd.IntN(8)
		damaged := filepath.Join(t.TempDir(), "data")
		image.write(t, damaged)
		flip(t, strings.Replace(table, dir, damaged, 1), at, bit)
		if told := openDamaged(t, damaged, want); told != "" {
			found++
			if !strings.Contains(told, store.ErrCorrupt.Error()) {
				t.Errorf("bit %#x of byte %d of %s: the error is not ErrCorrupt: %s", bit, at, filepath.Base(table), told)
			}
		}
	}
	t.Logf("%d of %d flipped bytes were found", found, flips)
	if found == 0 {
		t.Error("no flipped byte was found")
	}
}

// openDamaged lets a child open, export and verify. It returns the child's error,
// "" if the child found everything to be right.
func openDamaged(t *testing.T, dir, want string) (failed string) {
	t.Helper()
	var stderr bytes.Buffer
	s := startChild(t, dir, "", txn.Auto, with(childVerify+"=1"), func(cmd *exec.Cmd) { cmd.Stderr = &stderr }).listen(moment{})
	switch {
	case strings.Contains(stderr.String(), "goroutine "), strings.Contains(s.failed, "nil pointer"):
		t.Errorf("panic: %s%s", stderr.String(), s.failed)
	case s.failed == "" && s.said[saysClosed] == 0:
		t.Errorf("it ended without an answer: %s", stderr.String())
	case s.digest != "" && s.digest != want:
		t.Errorf("a wrong answer: digest %s, want %s", s.digest, want)
	case strings.Contains(s.failed, "differences"):
		t.Errorf("a wrong answer: %s", s.failed)
	}
	return s.failed
}

func size(t *testing.T, file string) int {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

func flip(t *testing.T, file string, at int, bits byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= bits
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
