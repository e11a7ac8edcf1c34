package postings

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/webindexer/indexer/internal/testenv"
)

// table is an FTS5 table as the package index has it, and a random history of it. Small pages make doclists,
// and position lists, run over many.
type table struct {
	t   testing.TB
	rng *rand.Rand
	db  *sql.DB
}

const modelColumns = 3

func newTable(t testing.TB, seed uint64) *table {
	tb := &table{t: t, rng: rand.New(rand.NewPCG(seed, 3))}
	var err error
	if tb.db, err = sql.Open("sqlite", filepath.Join(t.TempDir(), "t.sqlite")); err != nil {
		t.Fatal(err)
	}
	tb.db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = tb.db.Close() })
	tb.exec("PRAGMA synchronous=OFF")
	tb.exec("CREATE VIRTUAL TABLE fts USING fts5(a, b, c, content='', contentless_delete=1, tokenize='ascii')")
	tb.exec("CREATE VIRTUAL TABLE temp.vocab USING fts5vocab(main, fts, instance)")
	tb.set("pgsz", []int{40, 64, 200, 1000, 4050}[tb.rng.IntN(5)])
	tb.set("automerge", []int{0, 2, 4, 16}[tb.rng.IntN(4)])
	tb.set("usermerge", 2+tb.rng.IntN(4))
	return tb
}

func (tb *table) exec(query string, args ...any) {
	tb.t.Helper()
	if _, err := tb.db.Exec(query, args...); err != nil {
		tb.t.Fatalf("%s: %v", query, err)
	}
}

func (tb *table) set(name string, value int) {
	tb.exec("INSERT INTO fts(fts, rank) VALUES(?,?)", name, value)
}

// token is one of few frequent ones and many rare ones; some begin as others do.
func (tb *table) token() string {
	switch tb.rng.IntN(10) {
	case 0, 1, 2, 3:
		return fmt.Sprint("w", tb.rng.IntN(3))
	case 4:
		return strings.Repeat("long", 1+tb.rng.IntN(30))
	case 5:
		return string(rune(0x4E00+tb.rng.IntN(4))) + string(rune(0x4E00+tb.rng.IntN(4)))
	}
	return fmt.Sprintf("x%d", tb.rng.IntN(400))
}

func (tb *table) text() string {
	n := tb.rng.IntN(30)
	switch tb.rng.IntN(12) {
	case 0:
		n = 0
	case 1:
		n = 300
	}
	words := make([]string, n)
	for i := range words {
		words[i] = tb.token()
	}
	return strings.Join(words, " ")
}

// change is one transaction.
func (tb *table) change() {
	const ids = 150
	tb.exec("BEGIN")
	for range 1 + tb.rng.IntN(20) {
		id := 1 + tb.rng.Int64N(ids)
		if tb.rng.IntN(20) == 0 {
			id += 1 << 33 // tombstones of 8 bytes
		}
		switch tb.rng.IntN(6) {
		case 0:
			tb.exec("DELETE FROM fts WHERE rowid=?", id)
		default:
			tb.exec("INSERT OR REPLACE INTO fts(rowid, a, b, c) VALUES(?,?,?,?)", id, tb.text(), tb.text(), tb.text())
		}
	}
	tb.exec("COMMIT")
	switch tb.rng.IntN(8) {
	case 0:
		tb.exec("INSERT INTO fts(fts, rank) VALUES('merge', ?)", tb.rng.IntN(64)-32)
	case 1:
		if tb.rng.IntN(8) == 0 {
			tb.exec("INSERT INTO fts(fts) VALUES('optimize')")
		}
	}
}

func (tb *table) open() *Index {
	tb.t.Helper()
	x, err := Open(tb.t.Context(), "fts", func(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
		return tb.db.QueryContext(ctx, query, args...)
	})
	if err != nil {
		tb.t.Fatal(err)
	}
	return x
}

// instances is every position of every token, as FTS5 itself tells: "row column offset".
func (tb *table) instances() map[string][]string {
	rows, err := tb.db.Query("SELECT term, doc, col, offset FROM temp.vocab ORDER BY term, doc, col, offset")
	if err != nil {
		tb.t.Fatal(err)
	}
	defer rows.Close()
	all := make(map[string][]string)
	for rows.Next() {
		var term, col string
		var doc, offset int64
		if err := rows.Scan(&term, &doc, &col, &offset); err != nil {
			tb.t.Fatal(err)
		}
		all[term] = append(all[term], fmt.Sprintf("%d %d %d", doc, col[0]-'a', offset))
	}
	if err := rows.Err(); err != nil {
		tb.t.Fatal(err)
	}
	return all
}

// written returns a list in the same form.
func written(t testing.TB, l *List) (all []string) {
	t.Helper()
	for i := range l.Len() {
		positions, err := l.decode(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int, modelColumns)
		for _, p := range positions {
			all = append(all, fmt.Sprintf("%d %d %d", l.Rows()[i], p>>32, p&(1<<32-1)))
			want[p>>32]++
		}
		if got, sum := l.Weigh(i, []float64{1, 1000, 1e6}), float64(want[0])+1000*float64(want[1])+1e6*float64(want[2]); got != sum {
			t.Fatalf("row %d: weighs %v, positions say %v", l.Rows()[i], got, want)
		}
		if got := l.Weigh(i, []float64{0, 2}); got != 2*float64(want[1]) {
			t.Fatalf("row %d: the second column weighs %v, positions say %v", l.Rows()[i], got, want)
		}
		for c := range modelColumns {
			if l.In(i, 1<<c) != (want[c] > 0) {
				t.Fatalf("row %d in column %d: %v, counts %v", l.Rows()[i], c, l.In(i, 1<<c), want)
			}
		}
	}
	return all
}

// TestModel: random histories of an FTS5 table; after every few transactions each token has exactly the
// rows and positions that FTS5 says, and phrases and prefixes match what MATCH says.
func TestModel(t *testing.T) {
	histories := uint64(4)
	if testing.Short() {
		histories = 1
	}
	for seed := range testenv.Seeds(t, testenv.Fresh(t), histories) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			tb := newTable(t, seed)
			tb.compare() // empty
			for range 5 {
				for range 1 + tb.rng.IntN(6) {
					tb.change()
				}
				tb.compare()
			}
			tb.exec("DELETE FROM fts WHERE rowid<140")
			tb.compare()
		})
	}
}

func (tb *table) compare() {
	t := tb.t
	t.Helper()
	all := tb.instances()
	x := tb.open()
	for token, want := range all {
		l, err := x.Token(t.Context(), token, false)
		if err != nil {
			t.Fatalf("%q: %v", token, err)
		}
		if got := written(t, l); !slices.Equal(got, want) {
			t.Fatalf("%q: %d positions, FTS5 has %d:\n%.2000v\n%.2000v", token, len(got), len(want), got, want)
		}
	}
	var rows, tokens int64
	if err := tb.db.QueryRow("SELECT count(*) FROM fts_docsize").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	for _, positions := range all {
		tokens += int64(len(positions))
	}
	if x.Totals != (Totals{rows, tokens}) {
		t.Errorf("totals %+v, want %d rows, %d tokens", x.Totals, rows, tokens)
	}
	for _, token := range []string{"absent", "w", "x", "0", "\uFFFF", "longlon"} {
		if l, err := x.Token(t.Context(), token, false); err != nil || l.Len() > 0 && all[token] == nil {
			t.Errorf("%q: %d rows, %v", token, l.Len(), err)
		}
	}
	for range 20 {
		tb.comparePhrase(x)
	}
	for _, prefix := range []string{"", "w", "x", "x3", "longlong", "\u4E00", "absent", "w1"} {
		tb.compareCounts(x, prefix, all)
	}
}

// compareCounts counts the rows of all terms with a prefix.
func (tb *table) compareCounts(x *Index, prefix string, all map[string][]string) {
	tb.t.Helper()
	want := make(map[string]int)
	for term, positions := range all {
		rows := make(map[string]bool)
		for _, p := range positions {
			row, _, _ := strings.Cut(p, " ")
			rows[row] = true
		}
		if strings.HasPrefix(term, prefix) {
			want[term] = len(rows)
		}
	}
	if got, err := x.Counts(tb.t.Context(), prefix); err != nil || !maps.Equal(got, want) {
		tb.t.Fatalf("%q: %v (%v), want %v", prefix, got, err, want)
	}
}

// comparePhrase asks for a random phrase, whole or with its last token as a prefix.
func (tb *table) comparePhrase(x *Index) {
	t := tb.t
	t.Helper()
	var tokens []string
	for range 1 + tb.rng.IntN(3) {
		tokens = append(tokens, tb.token())
	}
	prefix := tb.rng.IntN(3) == 0
	expr := `"` + strings.Join(tokens, " ") + `"`
	if prefix {
		r := []rune(tokens[len(tokens)-1])
		tokens[len(tokens)-1] = string(r[:1+tb.rng.IntN(len(r))])
		expr = `"` + strings.Join(tokens, " ") + `" *`
	}
	l, err := Phrase(tokens, prefix, func(token string, prefix bool) (*List, error) { return x.Token(t.Context(), token, prefix) })
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	var got []int64
	var in [modelColumns][]int64
	for i := range l.Len() {
		got = append(got, l.Rows()[i])
		for c := range in {
			if l.In(i, 1<<c) {
				in[c] = append(in[c], l.Rows()[i])
			}
		}
	}
	written(t, l)
	if want := tb.match(expr); !slices.Equal(got, want) {
		t.Fatalf("%s: rows %v, FTS5 has %v", expr, got, want)
	}
	for c, name := range []string{"a", "b", "c"} {
		if want := tb.match(name + " : " + expr); !slices.Equal(in[c], want) {
			t.Fatalf("%s : %s: rows %v, FTS5 has %v", name, expr, in[c], want)
		}
	}
}

func (tb *table) match(expr string) (ids []int64) {
	rows, err := tb.db.Query("SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid", expr)
	if err != nil {
		tb.t.Fatalf("%s: %v", expr, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			tb.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		tb.t.Fatal(err)
	}
	return ids
}

// TestSeek: however far ahead, it is how many are below.
func TestSeek(t *testing.T) {
	for n := range 40 {
		var list []int64
		for i := range n {
			list = append(list, int64(2*i+1))
		}
		for id := int64(0); id <= int64(2*n+2); id++ {
			want, _ := slices.BinarySearch(list, id)
			if got := Seek(list, id); got != want {
				t.Fatalf("%d in %v: %d, want %d", id, list, got, want)
			}
		}
	}
}
