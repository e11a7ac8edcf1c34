package repository_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The tests of this file damage one file of a data directory in each run: a byte flips, the
// file is cut, or it is gone. Half of the directories were closed, half were left by a
// process that was killed after it had loaded everything. Then a process opens the
// directory, exports, and verifies. It either reports what is wrong with which file, or
// has the right answer. It neither panics nor hangs.
//
// INDEXER_LONG=1 makes it 1,000 runs of both tests together, INDEXER_SEED repeats one.

// TestDamagedStoreFiles damages the files of the store.
func TestDamagedStoreFiles(t *testing.T) {
	damageAll(t, testenv.Size(6, 10, 800), func(name string) bool { return strings.HasPrefix(name, "store/") })
}

// TestLostTable removes a table of the store, which cannot go unnoticed.
func TestLostTable(t *testing.T) {
	dir, want := filled(t)
	image := readDataImage(t, dir)
	tables := slices.DeleteFunc(slices.Sorted(maps.Keys(image)), func(name string) bool { return filepath.Ext(name) != ".sst" })
	d := damage{name: tables[0], what: "gone"}
	if failed := d.run(t, image, want); failed == "" || !d.says(failed) {
		t.Errorf("%s: %q", d, failed)
	}
}

// TestDamagedIndexFiles damages the index files. Most damage is repaired from the store, so
// few runs end with an error.
func TestDamagedIndexFiles(t *testing.T) {
	damageAll(t, testenv.Size(6, 10, 200), func(name string) bool { return !strings.HasPrefix(name, "store/") })
}

func damageAll(t *testing.T, runs int, which func(name string) bool) {
	rnd := testenv.Random(t)
	closed, want := filled(t)
	dirs := map[string]dataImage{"closed": readDataImage(t, closed), "killed": readDataImage(t, killedTwice(t, want))}
	right, told := 0, 0
	for n := range runs {
		state := []string{"closed", "killed"}[n%2]
		d := newDamage(rnd, dirs[state], which)
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			switch failed := d.run(t, dirs[state], want); {
			case failed == "":
				right++
			case d.says(failed):
				told++
			default:
				t.Errorf("the error does not say so: %s", failed)
			}
			if t.Failed() {
				t.Logf("the directory was %s, %s", state, d)
			}
		})
	}
	t.Logf("%d runs: %d were told, in %d all was there", runs, told, right)
}

var ownKilledTwice fixture

// killedTwice makes a directory as a process leaves it that is killed twice, the second time when
// there is nothing left to do.
func killedTwice(t *testing.T, want string) string {
	t.Helper()
	dir, _ := ownKilledTwice.copy(t, func(dir string) string {
		for _, at := range []moment{{saysLoad, 25}, {saysDigest, 1}} {
			s := killAt(t, dir, ownWebs, txn.Auto, at)
			if at.event == saysDigest && s.digest != want {
				t.Fatalf("killed at %v: %+v", at, s)
			}
		}
		return want
	})
	return dir
}

// dataImage is the files of a data directory. Many end with zeros that are holes.
type dataImage map[string]dataFile

type dataFile struct {
	used []byte
	size int64
}

func readDataImage(t *testing.T, dir string) dataImage {
	t.Helper()
	image := dataImage{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		name, rerr := filepath.Rel(dir, path)
		image[filepath.ToSlash(name)] = dataFile{used: bytes.Clone(bytes.TrimRight(text, "\x00")), size: int64(len(text))}
		return errors.Join(err, rerr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func (image dataImage) write(t *testing.T, dir string) {
	t.Helper()
	for name, f := range image {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, f.used, 0o600), os.Truncate(path, f.size)); err != nil {
			t.Fatal(err)
		}
	}
}

// damage is what happens to one file.
type damage struct {
	name string
	what string // "flip", "cut", "gone"
	at   int64
	bits byte
}

func (d damage) String() string {
	switch d.what {
	case "flip":
		return fmt.Sprintf("bits %#02x of byte %d of %s flipped", d.bits, d.at, d.name)
	case "cut":
		return fmt.Sprintf("%s cut to %d bytes", d.name, d.at)
	}
	return d.name + " gone"
}

// newDamage chooses a kind of file, then a file of that kind, and what happens to it. Places
// near the end of a file are chosen as often as all others.
func newDamage(rnd *rand.Rand, image dataImage, which func(string) bool) damage {
	kinds := map[string][]string{}
	for name := range image {
		if which(name) && filepath.Base(name) != "LOCK" {
			kind := filepath.Base(name)
			if strings.HasPrefix(name, "store/badger/") && filepath.Ext(name) != "" {
				kind = filepath.Ext(name)
			}
			kinds[kind] = append(kinds[kind], name)
		}
	}
	var sorted []string
	for kind, names := range kinds {
		sorted = append(sorted, kind)
		slices.Sort(names)
	}
	slices.Sort(sorted)
	names := kinds[sorted[rnd.IntN(len(sorted))]]
	d := damage{name: names[rnd.IntN(len(names))], what: []string{"flip", "flip", "cut", "cut", "gone"}[rnd.IntN(5)]}
	used := int64(len(image[d.name].used))
	if used == 0 {
		d.what = "gone"
		return d
	}
	d.at = rnd.Int64N(used)
	if rnd.IntN(2) == 0 {
		d.at = used - 1 - rnd.Int64N(min(used, 32))
	}
	d.bits = 1 << rnd.IntN(8)
	return d
}

// run applies the damage to a copy and lets a process open it. It returns the error, "" if all
// was right.
func (d damage) run(t *testing.T, image dataImage, want string) (failed string) {
	t.Helper()
	dir := t.TempDir()
	image.write(t, dir)
	path := filepath.Join(dir, d.name)
	switch d.what {
	case "flip":
		flip(t, path, int(d.at), d.bits)
	case "cut":
		if err := os.Truncate(path, d.at); err != nil {
			t.Fatal(err)
		}
	default:
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	return openDamaged(t, dir, want)
}

// says reports whether an error names the damage and the file; for a large value, Badger
// does not name the file.
func (d damage) says(failed string) bool {
	name := filepath.Base(d.name)
	for _, kind := range []error{store.ErrCorrupt, store.ErrForeign, store.ErrNewerFormat, index.ErrForeign, index.ErrNewerFormat} {
		if strings.Contains(failed, kind.Error()) {
			return strings.Contains(failed, name) || filepath.Ext(name) == ".vlog" && strings.Contains(failed, "*.vlog")
		}
	}
	return strings.HasPrefix(d.name, "index/") && strings.Contains(failed, "index")
}
