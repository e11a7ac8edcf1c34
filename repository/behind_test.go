package repository_test

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

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// wal is the log of the index files in a data directory.
const wal = "index/shard-000.sqlite-wal"

var ownKilled fixture

// killed makes a data directory as a process leaves it that is killed when nothing was left to
// do: all of the index is in its log.
func killed(t *testing.T) (dir, digest string) {
	t.Helper()
	return ownKilled.copy(t, func(dir string) string {
		killAt(t, dir, ownWebs, txn.Auto, moment{saysQuiet, 1})
		if log, err := os.Stat(filepath.Join(dir, wal)); err != nil || log.Size() < 100_000 {
			t.Fatalf("the log does not have the index: %v, %v", log, err)
		}
		return ownDigest(t)
	})
}

// filesSay is everything that readers find in the index files of a directory.
func filesSay(t *testing.T, dir string) (string, error) {
	t.Helper()
	r, err := index.OpenReader(repository.IndexDir(dir))
	if err != nil {
		return "", err
	}
	defer r.Close()
	var all strings.Builder
	err = r.Documents(t.Context(), func(d index.Document) error {
		d.Seq, d.Rank = 0, 0
		_, err := fmt.Fprintf(&all, "%+v\n", d)
		return err
	})
	for _, q := range []string{"lighthouse", "bread -butter", "site:skerryrock.example", "the keeper's log", "lang:de"} {
		if err != nil {
			break
		}
		var res *search.Results
		if res, err = r.Search(t.Context(), q, search.Options{Limit: 100}); err == nil {
			_, err = fmt.Fprintln(&all, q, hits(res))
		}
	}
	return all.String(), err
}

// openLogged opens a repository and returns its warnings.
func openLogged(t *testing.T, dir string) (*repository.Repository, []string) {
	t.Helper()
	log, logged := observer.New(zap.WarnLevel)
	r := open(t, dir, repository.Options{Log: zap.New(log)})
	var said []string
	for _, e := range logged.All() {
		said = append(said, e.Message)
	}
	return r, said
}

// TestIndexBehind removes the last writes from the index files, in several ways.
// Readers refuse the files, or find the same as before; Open exports the missing
// documents again, and says so.
func TestIndexBehind(t *testing.T) {
	rnd := testenv.Random(t)
	whole, want := killed(t)
	log, err := os.ReadFile(filepath.Join(whole, wal))
	if err != nil {
		t.Fatal(err)
	}
	says, err := filesSay(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	image := readDataImage(t, whole)
	for _, c := range []struct {
		name   string
		damage func(log []byte) []byte // nil: removed
		sound  bool                    // nothing is lost
	}{
		{"as it was left", bytes.Clone, true},
		{"log removed", func([]byte) []byte { return nil }, false},
		{"log empty", func([]byte) []byte { return []byte{} }, false},
		{"header of the log", func(b []byte) []byte { b[17] ^= 4; return b }, false},
		{"first frame", func(b []byte) []byte { b[100] ^= 1; return b }, false},
		{"last frame", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, false},
		{"cut by a byte", func(b []byte) []byte { return b[:len(b)-1] }, false},
		{"cut", func(b []byte) []byte { return b[:rnd.IntN(len(b))] }, false},
		{"cut", func(b []byte) []byte { return b[:rnd.IntN(len(b))] }, false},
		{"byte", func(b []byte) []byte { b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8); return b }, false},
		{"byte", func(b []byte) []byte { b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8); return b }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			image.write(t, dir)
			damaged := c.damage(bytes.Clone(log))
			if damaged == nil {
				err = os.Remove(filepath.Join(dir, wal))
			} else {
				err = os.WriteFile(filepath.Join(dir, wal), damaged, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := filesSay(t, dir)
			switch {
			case err == nil && got != says:
				t.Error("a reader finds something else and does not tell")
			case c.sound && err != nil, !c.sound && !errors.Is(err, index.ErrBehind):
				t.Errorf("a reader: %v", err)
			}
			r, said := openLogged(t, dir)
			if c.sound != (len(said) == 0) {
				t.Errorf("it was said: %q", said)
			}
			if rep, err := r.Check(t.Context(), quietly); err != nil || c.sound != (rep.Index.Repaired == "") || len(rep.Index.Problems) > 0 {
				t.Errorf("check: %+v, %v", rep, err)
			}
			wantSound(t, r, want)
			closeNow(t, r)
			if got, err := filesSay(t, dir); err != nil || got != says {
				t.Errorf("afterwards a reader finds something else, %v", err)
			}
			r, said = openLogged(t, dir)
			if len(said) > 0 {
				t.Errorf("it was said again: %q", said)
			}
			closeNow(t, r)
		})
	}
}

// TestKilledAfterOrderlyClose closes a repository in order, kills the next process, and takes
// from the index files all that it wrote, together with their mark. So the files are as they
// were at the orderly close, and the store is not: the record of the close must not count.
func TestKilledAfterOrderlyClose(t *testing.T) {
	want := ownDigest(t)
	dir := filepath.Join(t.TempDir(), "data")
	closeNow(t, open(t, dir, repository.Options{}))
	before := readDataImage(t, dir)
	killAt(t, dir, ownWebs, txn.Auto, moment{saysQuiet, 1})
	for _, path := range []string{"index", "index.mark"} {
		if err := os.RemoveAll(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	for path := range before {
		if !strings.HasPrefix(path, "index") {
			delete(before, path)
		}
	}
	before.write(t, dir)
	r, said := openLogged(t, dir)
	if len(said) == 0 {
		t.Error("nothing was said")
	}
	wantSound(t, r, want)
	closeNow(t, r)
	if r, said = openLogged(t, dir); len(said) > 0 {
		t.Errorf("after an orderly close it was said: %q", said)
	}
	closeNow(t, r)
}

// TestOlderIndex puts an older copy of the index files back, with and without its mark.
func TestOlderIndex(t *testing.T) {
	rnd := testenv.Random(t)
	fetches := mustReadWeb(t, ownWebs)
	rnd.Shuffle(len(fetches), func(i, j int) { fetches[i], fetches[j] = fetches[j], fetches[i] })
	dir := filepath.Join(t.TempDir(), "data")
	r := open(t, dir, repository.Options{})
	load(t, r, 1, fetches[:len(fetches)/2])
	closeNow(t, r)
	older := t.TempDir()
	readDataImage(t, dir).write(t, older)
	r = open(t, dir, repository.Options{})
	load(t, r, 1, fetches[len(fetches)/2:])
	want := digestOf(t, r)
	closeNow(t, r)
	says, err := filesSay(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{"newer", "older", "missing", "damaged"} {
		t.Run("mark "+mark, func(t *testing.T) {
			swapIndex(t, dir, readFiles(t, repository.IndexDir(older)))
			marked := repository.IndexDir(dir) + ".mark"
			var err error
			switch mark {
			case "older":
				var b []byte
				if b, err = os.ReadFile(repository.IndexDir(older) + ".mark"); err == nil {
					err = os.WriteFile(marked, b, 0o600)
				}
			case "missing":
				err = os.Remove(marked)
			case "damaged":
				flip(t, marked, rnd.IntN(size(t, marked)), 1)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = filesSay(t, dir)
			if want := map[string]error{"newer": index.ErrBehind, "damaged": index.ErrCorrupt}[mark]; !errors.Is(err, want) {
				t.Errorf("a reader: %v, want %v", err, want)
			}
			r, said := openLogged(t, dir)
			if len(said) != 1 {
				t.Errorf("it was said: %q", said)
			}
			wantSound(t, r, want)
			closeNow(t, r)
			if got, err := filesSay(t, dir); err != nil || got != says {
				t.Errorf("afterwards a reader finds something else, %v", err)
			}
		})
	}
	t.Run("older store", func(t *testing.T) {
		if err := errors.Join(os.RemoveAll(repository.StoreDir(dir)), os.CopyFS(repository.StoreDir(dir), os.DirFS(repository.StoreDir(older)))); err != nil {
			t.Fatal(err)
		}
		r, said := openLogged(t, dir)
		if len(said) == 0 {
			t.Error("nothing was said")
		}
		load(t, r, 1, fetches)
		wantSound(t, r, want)
		closeNow(t, r)
	})
}

// TestIndexDamaged flips, cuts and removes in the directory of the index files and its mark, after a clean end and
// after a kill. Readers find what they found or get an error; a reindex repairs everything.
func TestIndexDamaged(t *testing.T) {
	rnd := testenv.Random(t)
	rounds := testenv.Size(3, 6, 60)
	ends := map[string]func(*testing.T) (string, string){"clean": filled, "killed": killed}
	for name, make := range ends {
		t.Run(name, func(t *testing.T) {
			whole, want := make(t)
			says, err := filesSay(t, whole)
			if err != nil {
				t.Fatal(err)
			}
			image := readDataImage(t, whole)
			refused := 0
			for range rounds {
				dir := filepath.Join(t.TempDir(), "data")
				image.write(t, dir)
				what := damageIndex(t, rnd, dir)
				got, err := filesSay(t, dir)
				if err == nil && got != says {
					t.Errorf("%s: a reader finds something else", what)
				}
				if err != nil {
					refused++
				}
				if rnd.IntN(5) > 0 && err == nil {
					continue
				}
				r, err := repository.Open(context.Background(), dir, repository.Options{Reindex: rnd.IntN(2) == 0})
				if err != nil {
					if !index.IsDamage(err) && !errors.Is(err, index.ErrForeign) && !errors.Is(err, index.ErrNewerFormat) && !errors.Is(err, repository.ErrOtherIndex) {
						t.Errorf("%s: Open: %v", what, err)
					}
					r = open(t, dir, repository.Options{Reindex: true})
				}
				rep, err := r.Check(t.Context(), quietly)
				if err != nil {
					t.Errorf("%s: check: %v", what, err)
				} else if len(rep.Index.Problems) == 0 {
					if got, err := filesSay(t, dir); err != nil || got != says {
						t.Errorf("%s: check finds nothing, and a reader something else, %v", what, err)
					}
				}
				if rep := digestOf(t, r); rep != want {
					t.Errorf("%s: digest %s", what, rep)
				}
				closeNow(t, r)
				if got, err := filesSay(t, dir); err == nil && got != says {
					t.Errorf("%s: after Open a reader finds something else", what)
				} else if err != nil && !index.IsDamage(err) {
					t.Errorf("%s: after Open: %v", what, err)
				}
			}
			t.Logf("%d of %d were refused", refused, rounds)
		})
	}
}

// damageIndex damages one file that belongs to the index files, and says how.
func damageIndex(t *testing.T, rnd *rand.Rand, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "index", "shard*"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(dir, "index.mark"))
	files = slices.DeleteFunc(files, func(f string) bool { return size(t, f) == 0 })
	file := files[rnd.IntN(len(files))]
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := rnd.IntN(len(data))
	what := ""
	switch rnd.IntN(8) {
	case 0:
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		return file + " removed"
	case 1:
		data = data[:at]
		what = fmt.Sprint("cut to ", at)
	case 2:
		at = rnd.IntN(min(100, len(data)))
		fallthrough
	default:
		data[at] ^= 1 << rnd.IntN(8)
		what = fmt.Sprint("byte ", at)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(file) + " " + what
}
