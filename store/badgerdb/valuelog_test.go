package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestCollectValueLog: a table whose value log was rewritten, so that the file is gone that was the
// newest at the last write, can be opened after it was closed or killed.
func TestCollectValueLog(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{MinFreeBytes: -1, MemoryBytes: 1})
	const rows = 40 // that stay; their values fill more than one file
	value := strings.Repeat("v", logValueBytes)
	for i := range rows {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("last", "c", 1, value))
		for ts := range uint64(2) {
			mustMutate(t, db, "replaced", mutation("last", "c", uint64(2*i)+ts, value))
		}
	}
	newest := db.mark.valueLog
	if err := db.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(valueLogFile(dir, newest)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the file was not collected")
	}
	killed := copyOpen(t, dir)
	closeTest(t, db)
	for _, dir := range []string{dir, killed} {
		db := openTest(t, dir, Options{MinFreeBytes: -1})
		for i := range rows {
			if got := readRow(t, db, fmt.Sprint("row", i)); got == "" {
				t.Errorf("row %d is lost", i)
			}
		}
		closeTest(t, db)
	}
}
