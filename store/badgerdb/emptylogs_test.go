package badgerdb

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// TestEmptyLogs checks that a table opens, with everything in it, if a process was
// killed between creating a log file and setting its length.
func TestEmptyLogs(t *testing.T) {
	groups := []store.GroupSpec{{Name: "g"}}
	cell := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: 1, Value: []byte("v")}}}
	for _, name := range []string{"00009.mem", "000009.vlog"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := Open(dir, groups, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Apply(context.Background(), []store.RowMutation{cell}); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, dirfile.Badger, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			db, err = Open(dir, groups, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			cells, err := db.Read(context.Background(), []byte("r"), store.Selector{Group: "g", Column: []byte("c")})
			if err != nil || len(cells) != 1 || string(cells[0].Value) != "v" {
				t.Fatalf("read %v, %v", cells, err)
			}
		})
	}
}

// TestProbeLeftBehind: the file that a process killed in probe has left is removed.
func TestProbeLeftBehind(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, dirfile.Badger, "probe123"+dirfile.TempSuffix)
	for i := range 2 {
		db, err := Open(dir, []store.GroupSpec{{Name: "g"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); i == 1 && !os.IsNotExist(err) {
			t.Errorf("%s: %v", left, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
