package badgerdb

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// TestDamagedDiscard: damaged counts of waste, over which Badger would hang or panic, are
// made anew, and all others stay.
func TestDamagedDiscard(t *testing.T) {
	slots := func(numbers ...uint64) []byte {
		b := make([]byte, discardBytes)
		for i, n := range numbers {
			binary.BigEndian.PutUint64(b[8*i:], n)
		}
		return b
	}
	for _, tc := range []struct {
		name string
		text []byte
		kept bool
	}{
		{"sound", slots(3, 100, 1, 7), true},
		{"none", slots(), true},
		{"being made", nil, true},
		{"a number beyond 32 bits", slots(3, 100, 1<<40, 7), false},
		{"a number twice", slots(3, 100, 3, 7), false},
		{"more than a file can hold", slots(3, 1<<63), false},
		{"cut", slots(3, 100)[:8], false},
		{"cut in half", slots(3, 100)[:discardBytes/2], false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			db := openTest(t, dir, Options{})
			mustMutate(t, db, "r", mutation("data", "c", 1, "v"))
			closeTest(t, db)
			file := filepath.Join(dir, dirfile.Badger, "DISCARD")
			if err := os.WriteFile(file, tc.text, 0o600); err != nil {
				t.Fatal(err)
			}
			err := checkDiscard(dir, silent{})
			if _, serr := os.Stat(file); err != nil || (serr == nil) != tc.kept {
				t.Errorf("checkDiscard: %v; then %v", err, serr)
			}
			db = openTest(t, dir, Options{})
			defer closeTest(t, db)
			if got := readRow(t, db, "r"); got != "data:c@1=v" {
				t.Errorf("the row has %s", got)
			}
		})
	}
}
