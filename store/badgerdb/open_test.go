package badgerdb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// listing is the names, sizes and modification times of everything below a path.
func listing(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(path, func(p string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(p + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDirectoryLikePattern: the path of the directory could be a pattern of other paths.
func TestDirectoryLikePattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site[1]")
	value := bytes.Repeat([]byte("v"), 2*defaultBlobBytes)
	for _, row := range []string{"a", "b"} {
		db, err := Open(dir, testGroups, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		put := store.Mutation{Group: "data", Column: []byte("c"), TS: 1, Value: value}
		if err := db.Apply(t.Context(), []store.RowMutation{{Row: []byte(row), Mutations: []store.Mutation{put}}}); err != nil {
			t.Fatal(err)
		}
		cells, err := db.Read(t.Context(), []byte("a"), store.Selector{Group: "data", Column: []byte("c")})
		if err != nil || len(cells) != 1 || !bytes.Equal(cells[0].Value, value) {
			t.Fatalf("with row %s: %d cells, %v", row, len(cells), err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenRefusesAndTouchesNothing(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  error
	}{
		{"someone's notes", map[string]string{"notes.txt": "mine"}, store.ErrForeign},
		{"another Badger database", map[string]string{"MANIFEST": "Bdgr", "000001.vlog": ""}, store.ErrForeign},
		{"hidden file", map[string]string{".keep": ""}, store.ErrForeign},
		{"another FORMAT", map[string]string{"FORMAT": "something else\nformat 1\n"}, store.ErrForeign},
		{"empty FORMAT", map[string]string{"FORMAT": ""}, store.ErrForeign},
		{"long FORMAT", map[string]string{"FORMAT": strings.Repeat("x", 5000)}, store.ErrForeign},
		{"newer", map[string]string{"FORMAT": fmt.Sprintf("%s\nformat %d\n", stampMagic, formatNow+1), "badger/x": "y"}, store.ErrNewerFormat},
		{"no number", map[string]string{"FORMAT": stampMagic + "\nformat one\n"}, store.ErrCorrupt},
		{"half a stamp beside something", map[string]string{stampTemp: "in", "x": ""}, store.ErrForeign},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tc.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := listing(t, dir)
			_, err := Open(dir, testGroups, Options{})
			if !errors.Is(err, tc.want) {
				t.Errorf("Open: %v, want %v", err, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("the message does not name the directory: %v", err)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("the directory was\n%sand is\n%s", before, after)
			}
		})
	}
}

func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testGroups, Options{}); !errors.Is(err, store.ErrForeign) {
		t.Errorf("Open: %v, want ErrForeign", err)
	}
}

func TestOpenAfterCrashWhileMaking(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "where")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, stampTemp), []byte("ind"), 0o644); err != nil {
		t.Fatal(err)
	}
	closeTest(t, openTest(t, dir, Options{}))
	for _, name := range []string{dirfile.Badger, markName} { // stamped, and then the crash
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	closeTest(t, openTest(t, dir, Options{}))
}

func TestOpenTwice(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	_, err := Open(dir, testGroups, Options{})
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "opened twice in this process") {
		t.Errorf("second Open: %v", err)
	}
	mustMutate(t, db, "r", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	closeTest(t, openTest(t, dir, Options{}))
}

// damage overwrites bytes in the middle of the first file that matches.
func damage(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) / 3; i < len(text)/3+40 && i < len(text); i++ {
		text[i] ^= 0x5a
	}
	if err := os.WriteFile(files[0], text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOpenDamaged(t *testing.T) {
	for _, tc := range []struct {
		file string
		opts Options
	}{
		{"MANIFEST", Options{}},
		{"*.sst", Options{}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			dir := t.TempDir()
			db := openTest(t, dir, Options{})
			for i := range 100 {
				mustMutate(t, db, "r", mutation("data", strings.Repeat("c", i+1), 1, "v"))
			}
			closeTest(t, db) // writes a table file
			damage(t, filepath.Join(dir, dirfile.Badger, tc.file))
			db, err := Open(dir, testGroups, tc.opts)
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("Open: %v, want ErrCorrupt", err)
			}
			if err == nil {
				closeTest(t, db)
			}
		})
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	for i := range 100 {
		mustMutate(t, db, "r", mutation("data", strings.Repeat("c", i+1), 1, "v"))
	}
	closeTest(t, db)
	damage(t, filepath.Join(dir, dirfile.Badger, "*.sst"))
	db, err := Open(dir, testGroups, Options{})
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("Open: %v", err)
		}
		return
	}
	defer closeTest(t, db)
	if err := db.Verify(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("Verify: %v, want ErrCorrupt", err)
	}
}

func TestNoSpace(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "r", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	const exabyte = 1 << 60
	db = openTest(t, dir, Options{MinFreeBytes: exabyte})
	defer closeTest(t, db)
	clock := &countingClock{}
	db.UseClock(clock)
	m := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{mutation("data", "c", 2, "v")}}
	if res, err := db.Mutate(t.Context(), m); !errors.Is(err, store.ErrNoSpace) {
		t.Errorf("Mutate: %v, %v; want ErrNoSpace", res, err)
	}
	if _, res, err := db.Commit(t.Context(), []store.RowMutation{m}); !errors.Is(err, store.ErrNoSpace) || clock.last != 0 {
		t.Errorf("Commit: %v, %v; want ErrNoSpace, and no timestamp taken", res, err)
	}
	if got := readRow(t, db, "r"); got != "data:c@1=v" {
		t.Errorf("the row has %s", got)
	}
	fresh := filepath.Join(t.TempDir(), "new")
	if _, err := Open(fresh, testGroups, Options{MinFreeBytes: exabyte}); !errors.Is(err, store.ErrNoSpace) {
		t.Errorf("Open of a new directory: %v, want ErrNoSpace", err)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
}
