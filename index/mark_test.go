package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestBehind(t *testing.T) {
	files := meta{id: "b", succeeds: "a"}
	for _, c := range []struct {
		name    string
		mark    *mark
		applied uint64
		behind  bool
	}{
		{"no mark", nil, 0, false},
		{"as far", &mark{"b", 7}, 7, false},
		{"killed before the mark was written", &mark{"b", 7}, 8, false},
		{"one lost", &mark{"b", 7}, 6, true},
		{"killed before the first mark", &mark{"a", 900}, 3, false},
		{"other files", &mark{"c", 1}, 3, true},
	} {
		if err := behind(c.mark, &files, c.applied); (err != nil) != c.behind || c.behind && !errors.Is(err, ErrBehind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := behind(&mark{"", 1}, &meta{id: "b"}, 3); err == nil {
		t.Error("files that succeed none are taken for those without an ID")
	}
}

// TestMarkWhileWritten reads a mark that is being written: it never goes back, and is always one.
func TestMarkWhileWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	id := strings.Repeat("a", 32)
	k := &marker{dir: dir}
	if err := k.put(mark{id, 1}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				m, err := readMark(dir)
				if err != nil || m == nil || m.applied < last {
					t.Errorf("%+v after %d, %v", m, last, err)
					return
				}
				last = m.applied
			}
		})
	}
	for n := range uint64(20_000) {
		if err := k.put(mark{id, 1 + n*999_999_999}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	readers.Wait()
	if err := k.close(); err != nil {
		t.Error(err)
	}
}

// TestCaughtUpInVain: if the transaction of CaughtUp fails, the files stay behind their mark, and
// whatever is written to them then does not make readers accept them.
func TestCaughtUpInVain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	w := openTestWriter(t, dir)
	m := mark{w.ID(), 812}
	if err := errors.Join(w.Close(), os.WriteFile(markPath(dir), []byte(m.line()), 0o600)); err != nil {
		t.Fatal(err)
	}
	w = openTestWriter(t, dir)
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if w.Behind() == nil {
		t.Fatal("it is not behind")
	}
	statement := func(text string) {
		t.Helper()
		db, err := openDatabase(writerDSN(w.path, false))
		if err == nil {
			_, err = db.ExecContext(t.Context(), text)
			err = errors.Join(err, db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	statement("CREATE TRIGGER never BEFORE UPDATE ON state BEGIN SELECT RAISE(ABORT, 'no room'); END")
	if err := w.CaughtUp(t.Context(), 0); err == nil || w.Behind() == nil {
		t.Errorf("caught up: %v, behind: %v", err, w.Behind())
	}
	statement("DROP TRIGGER never")
	apply(t, w, Upsert(&Document{Cluster: key("a"), Seq: 1, URL: "https://a.example/"}))
	r := openTestReader(t, dir)
	if _, err := r.Count(t.Context()); !errors.Is(err, ErrBehind) {
		t.Errorf("before it has caught up: %v", err)
	}
	if err := w.CaughtUp(t.Context(), 0); err != nil || w.Behind() != nil {
		t.Error(err, w.Behind())
	}
	if n, err := r.Count(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
	if now, err := readMark(dir); err != nil || now.applied <= m.applied || now.applied != w.Applied() {
		t.Errorf("mark %+v, %v", now, err)
	}
}

// TestDamagedMark: whatever is changed in a mark is noticed.
func TestDamagedMark(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if m, err := readMark(dir); m != nil || err != nil {
		t.Errorf("no mark: %+v, %v", m, err)
	}
	line := mark{strings.Repeat("0f", 16), 812}.line()
	for at := range line {
		for bit := range 8 {
			b := []byte(line)
			b[at] ^= 1 << bit
			if m, ok := parseMark(string(b)); ok {
				t.Fatalf("%q is %+v", b, m)
			}
		}
		if m, ok := parseMark(line[:at]); ok {
			t.Fatalf("%q is %+v", line[:at], m)
		}
	}
	if err := os.WriteFile(markPath(dir), []byte(line[1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readMark(dir); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), markPath(dir)) {
		t.Error(err)
	}
}

func FuzzMark(f *testing.F) {
	f.Add(mark{strings.Repeat("0f", 16), 812}.line())
	f.Add("")
	f.Add("index mark 1 x 00000000000000000001 00000000\n")
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parseMark(line); ok && m.line() != line {
			t.Errorf("%q is read as %+v", line, m)
		}
	})
}

// TestShardNumber: which names are of index files.
func TestShardNumber(t *testing.T) {
	for name, want := range map[string]int{
		"shard-000.sqlite": 1, "shard-000.2.sqlite": 2, "shard-000.10.sqlite": 10,
		"shard-000.sqlite.new": 0, "shard-000.sqlite-wal": 0, "shard-000.2.sqlite-shm": 0, "shard-000.sqlite.aside-1": 0,
		"shard-000.02.sqlite": 0, "shard-000.0.sqlite": 0, "shard-000.9999999999.sqlite": 0, "shard-001.sqlite": 0, "": 0,
	} {
		if got := shardNumber(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
		if want > 0 && shardName(want) != name {
			t.Errorf("%d: %q", want, shardName(want))
		}
	}
}
