package cksumvfs

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"

	"github.com/webindexer/indexer/internal/testenv"
)

func openDB(t *testing.T, path, params string) *sql.DB {
	t.Helper()
	if err := Register(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?vfs="+Name+params)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// sample makes a database with an index, long rows, full-text tables and free pages, written through a log.
func sample(t *testing.T, rnd *rand.Rand) (path string, want []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sample.sqlite")
	if err := os.WriteFile(path, Empty(77, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	db := openDB(t, path, "&_pragma=journal_mode(WAL)")
	run(t, db, "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT UNIQUE, long BLOB)", "CREATE VIRTUAL TABLE f USING fts5(x, content='', contentless_delete=1)")
	for i := range 200 {
		long := make([]byte, rnd.IntN(20000))
		for j := range long {
			long[j] = byte(rnd.Uint32())
		}
		if _, err := db.Exec("INSERT INTO t VALUES(?,?,?)", i, fmt.Sprint("w", rnd.Uint64()), long); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO f(rowid, x) VALUES(?,?)", i, fmt.Sprint("all w", i%7)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, db, "DELETE FROM t WHERE id%5=0", "DELETE FROM f WHERE rowid%5=0")
	var app, user int
	if err := db.QueryRow("SELECT application_id, user_version FROM pragma_application_id, pragma_user_version").Scan(&app, &user); err != nil || app != 77 || user != 3 {
		t.Fatal(app, user, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := answers(t, path)
	if err != nil || len(want) < 200 {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	return path, want
}

// answers asks for everything in several ways.
func answers(t *testing.T, path string) (list []string, err error) {
	t.Helper()
	db := openDB(t, path, "&mode=ro")
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, q := range []string{
		"SELECT id||word||hex(long) FROM t ORDER BY id", "SELECT word FROM t ORDER BY word",
		"SELECT rowid FROM f WHERE f MATCH 'w3' ORDER BY rowid", "SELECT count(*) FROM f WHERE f MATCH 'all'",
		"PRAGMA integrity_check",
	} {
		rows, err := db.Query(q)
		if err != nil {
			return list, err
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				return list, errors.Join(err, rows.Close())
			}
			list = append(list, s)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return list, err
		}
	}
	return list, nil
}

// TestDamage flips, cuts and swaps pieces of a database. Then no question may be answered
// differently than before.
func TestDamage(t *testing.T) {
	rnd := testenv.Random(t)
	path, want := sample(t, rnd)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	for i := range 200 {
		data, what := bytes.Clone(whole), ""
		switch a, b := rnd.IntN(len(data)), rnd.IntN(len(data)); {
		case i < 100:
			data[i] ^= 1 << rnd.IntN(8)
			what = fmt.Sprintf("byte %d of the header", i)
		case i%10 == 0:
			data = data[:a]
			what = fmt.Sprintf("cut to %d bytes", a)
		case i%10 == 1:
			copy(data[a/PageSize*PageSize:], whole[b/PageSize*PageSize:][:PageSize])
			what = fmt.Sprintf("page %d in place of %d", b/PageSize, a/PageSize)
			if a/PageSize == b/PageSize {
				continue
			}
		case i%10 == 2:
			clear(data[a/PageSize*PageSize:][:PageSize])
			what = fmt.Sprintf("page %d empty", a/PageSize)
		default:
			data[a] ^= 1 << rnd.IntN(8)
			what = fmt.Sprintf("byte %d", a)
		}
		damaged := filepath.Join(t.TempDir(), "damaged.sqlite")
		if err := os.WriteFile(damaged, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := answers(t, damaged)
		var e *sqlite.Error
		switch {
		case err == nil && fmt.Sprint(got) == fmt.Sprint(want): // nothing reads free pages
		case err == nil && len(got) == len(want) && got[len(got)-1] != "ok":
			faults++ // integrity_check reports damage in rows
		case err == nil:
			t.Errorf("%s: another answer", what)
		case errors.As(err, &e) && IsFault(e.Code()):
			faults++
		}
		for j := range min(len(got), len(want)-1) { // before the error, only what is right
			if got[j] != want[j] {
				t.Errorf("%s: answer %d is another one", what, j)
				break
			}
		}
	}
	t.Logf("%d faults found by checksums", faults)
	if faults < 100 {
		t.Error("too few")
	}
}

// TestRollback: pages that a transaction restores are also sealed.
func TestRollback(t *testing.T) {
	path, want := sample(t, testenv.Random(t))
	for _, mode := range []string{"WAL", "DELETE"} {
		db := openDB(t, path, "&_pragma=journal_mode("+mode+")&_pragma=cache_size(5)")
		run(t, db, "BEGIN", "UPDATE t SET long=zeroblob(9000)", "DELETE FROM t WHERE id%3=0", "ROLLBACK")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := answers(t, path); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d answers, %v", mode, len(got), err)
		}
	}
}

// TestEmpty: what Empty gives is a database to SQLite itself.
func TestEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.sqlite")
	if err := os.WriteFile(path, Empty(1, 2), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var ok string
	var pages, size int
	err = db.QueryRow("SELECT integrity_check, page_count, page_size FROM pragma_integrity_check, pragma_page_count, pragma_page_size").Scan(&ok, &pages, &size)
	if err != nil || ok != "ok" || pages != 1 || size != PageSize {
		t.Errorf("%q, %d pages of %d, %v", ok, pages, size, err)
	}
}
