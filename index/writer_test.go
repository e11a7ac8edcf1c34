package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

func isLocked(err error) bool { return errors.Is(err, ErrLocked) }

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	if _, err := OpenWriter(t.Context(), dir, WriterOptions{}); !isLocked(err) {
		t.Errorf("second writer in the same process: %v", err)
	}
	id := w.ID()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(t.Context(), generate(1, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("Apply after Close: %v", err)
	}
	again := openTestWriter(t, dir)
	if again.ID() != id {
		t.Error("the same files, another ID")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(shardPath(dir)); err != nil {
		t.Fatal(err)
	}
	if anew := openTestWriter(t, dir); anew.ID() == id || len(anew.ID()) != 32 {
		t.Errorf("other files, ID %q", anew.ID())
	}
}

// TestRefusals: what cannot be used is refused with a reason and not touched.
func TestRefusals(t *testing.T) {
	otherDB := func(pragmas ...string) func(string) error {
		return func(path string) error {
			db, err := sql.Open("sqlite", dsn(path, nil))
			if err != nil {
				return err
			}
			defer db.Close()
			for _, p := range append(pragmas, "CREATE TABLE theirs(x)") {
				if _, err := db.Exec(p); err != nil {
					return err
				}
			}
			return nil
		}
	}
	text := func(s string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(s), 0o644) }
	}
	for _, c := range []struct {
		name string
		make func(path string) error
		want error
	}{
		{"text file", text(strings.Repeat("not a database\n", 400)), ErrForeign},
		{"empty file", text(""), ErrForeign},
		{"short file", text("SQLite format 3\x00"), ErrForeign},
		{"directory", func(path string) error { return os.Mkdir(path, 0o755) }, ErrForeign},
		{"other database", otherDB(), ErrForeign},
		{"other database in WAL mode", otherDB("PRAGMA journal_mode=WAL"), ErrForeign},
		{"newer index", otherDB(fmt.Sprint("PRAGMA application_id=", applicationID), fmt.Sprint("PRAGMA user_version=", FormatVersion+1)), ErrNewerFormat},
		{"index without version", otherDB(fmt.Sprint("PRAGMA application_id=", applicationID)), ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.make(shardPath(dir)); err != nil {
				t.Fatal(err)
			}
			before := listing(t, dir)
			_, err := OpenWriter(t.Context(), dir, WriterOptions{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), shardPath(dir)) {
				t.Errorf("writer: %v", err)
			}
			t.Log(err)
			if _, err := OpenReader(dir); !errors.Is(err, c.want) {
				t.Errorf("reader: %v", err)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("touched: %s, was %s", after, before)
			}
		})
	}
}

func listing(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, e.Name(), info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%x\n", data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDamagedLock: a lock that is not a database is no damage of the index, which a rebuild would repair. The
// error says what to do.
func TestDamagedLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lockFile)
	if err := os.WriteFile(path, []byte("not a database"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err == nil || IsDamage(err) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove this file") {
		t.Fatalf("%v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	openTestWriter(t, dir)
}

func TestNoIndexYet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, err := OpenReader(dir)
	if !errors.Is(err, ErrNoIndex) || !strings.Contains(err.Error(), "indexer replay") {
		t.Error(err)
	}
	if exists(dir) {
		t.Error("a reader made the directory")
	}
}

// TestKilledInCreation: what a killed start leaves is removed.
func TestKilledInCreation(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{".new", ".new-journal", "-wal", "-shm"} {
		if err := os.WriteFile(shardPath(dir)+f, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, openTestWriter(t, dir), generate(3, 1)...)
	openTestReader(t, dir)
}

// TestInvalid: a change that cannot be stored fails its own call, whole.
func TestInvalid(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	good := generate(1, 1)[0]
	for name, spoil := range map[string]func(*Change){
		"no URL":        func(c *Change) { c.Doc.URL = "" },
		"rank":          func(c *Change) { c.Doc.Rank = math.NaN() },
		"infinite rank": func(c *Change) { c.Doc.Rank = math.Inf(1) },
		"negative rank": func(c *Change) { c.Doc.Rank = -1 },
		"seq":           func(c *Change) { c.Doc.Seq, c.Seq = 1<<63, 1<<63 },
		"time":          func(c *Change) { c.Doc.FetchedAt = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"disagreement":  func(c *Change) { c.Seq++ },
	} {
		d := *good.Doc
		d.Cluster, d.URL = key("bad"), "https://example.org/bad"
		bad := Upsert(&d)
		spoil(&bad)
		if err := w.Apply(t.Context(), []Change{good, bad}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.SetRanks(t.Context(), []RankUpdate{{Rank: math.NaN()}}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := w.Touch(t.Context(), []Touch{{FetchedAt: time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)}}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if n, err := openTestReader(t, dir).Count(t.Context()); n != 0 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
}

// TestRoundTrip: what goes in comes out, texts longer than the head and odd bytes included.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	v := newVocabulary(5)
	docs := []*Document{v.document(0, 9), v.document(1, 9), v.document(2, 9), v.document(3, 9)}
	docs[1].Text = v.text(3*headSize) + "ende Ω"
	docs[2].Text, docs[2].Title, docs[2].FetchedAt, docs[2].Members, docs[2].Anchors = "", "", time.Time{}, nil, nil
	docs[3].Text = strings.Repeat("日", headSize) + "\x00 nul \xff"
	want := map[page.URL]*Document{}
	for _, d := range docs {
		d.FetchedAt = d.FetchedAt.UTC()
		want[d.URL] = d
		apply(t, w, Upsert(d))
	}
	err := openTestReader(t, dir).Documents(t.Context(), func(d Document) error {
		if got, w := fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", *want[d.URL]); got != w {
			t.Errorf("%s: got\n%.300s\nwant\n%.300s", d.URL, got, w)
		}
		delete(want, d.URL)
		return nil
	})
	if err != nil || len(want) != 0 {
		t.Error(err, want)
	}
}

// TestReexport: the same text with a newer Seq leaves the full-text table alone.
func TestReexport(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	r := openTestReader(t, dir)
	state := func() string {
		var s string
		if err := r.db.QueryRow("SELECT group_concat(hex(block)) FROM fts_data").Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	docs := generate(20, 1)
	apply(t, w, docs...)
	before := state()
	for i := range docs {
		d := *docs[i].Doc
		d.Seq, d.Rank, d.Inlinks = 2, 7, 99
		docs[i] = Upsert(&d)
	}
	apply(t, w, docs...)
	if state() != before {
		t.Error("full-text table was written")
	}
	d, ok, err := r.Document(t.Context(), string(docs[3].Doc.URL))
	if err != nil || !ok || d.Seq != 2 || d.Rank != 7 || d.Inlinks != 99 {
		t.Errorf("%+v %v", d, err)
	}
	docs[0].Doc.Title += " other"
	docs[0].Doc.Seq, docs[0].Seq = 3, 3
	apply(t, w, docs[0])
	if state() == before {
		t.Error("a new title did not reach the full-text table")
	}
}

// idleWriter returns a writer without its goroutine, which would merge in a pause: its one connection is the
// test's.
func idleWriter(t *testing.T, dir string) *Writer {
	t.Helper()
	if err := openTestWriter(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	lock, err := lockWriter(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(dir, shardPath(dir))
	w.lock = lock
	if err := w.openCurrent(t.Context(), WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.closeFiles(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// TestFailingRequestInGroup: a failing request does not fail the others of its group.
func TestFailingRequestInGroup(t *testing.T) {
	dir := t.TempDir()
	w := idleWriter(t, dir)
	broken := errors.New("broken")
	reqs := make([]*request, 3)
	docs := generate(3, 1)
	for i := range reqs {
		p, err := w.prepare(t.Context(), &docs[i])
		if err != nil {
			t.Fatal(err)
		}
		reqs[i] = &request{ctx: t.Context(), size: 1, done: make(chan error, 1), run: func(tb *tables) error {
			if err := tb.change(p); err != nil || i != 1 {
				return err
			}
			return broken
		}}
	}
	w.commit(reqs)
	for i, r := range reqs {
		if err := <-r.done; (i == 1) != errors.Is(err, broken) || i != 1 && err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if n, err := openTestReader(t, dir).Count(t.Context()); n != 2 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
}

func TestCancelledApply(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Apply(ctx, generate(1, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCancelledOpen: an open that its caller cancels reports no damage.
func TestCancelledOpen(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readMeta(ctx, w.db); !errors.Is(err, context.Canceled) || IsDamage(err) {
		t.Error(err)
	}
}
