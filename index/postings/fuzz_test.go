package postings

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// pagesOf returns the rows of fts_data of a random table.
func pagesOf(t testing.TB, tb *table) (pages [][]byte) {
	rows, err := tb.db.Query("SELECT block FROM fts_data ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var b []byte
		if err := rows.Scan(&b); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, b)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return pages
}

// useList reads all that a list has, which must be possible of any that was accepted.
func useList(t *testing.T, l *List) {
	for i := range l.Len() {
		if w := l.Weigh(i, []float64{1, 1, 1}); w < 0 {
			t.Fatalf("row %d weighs %v", l.Rows()[i], w)
		}
		l.In(i, 1<<2)
		if _, err := l.decode(i, nil); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	}
	if _, err := phrase([]*List{l, l}); err != nil && !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}

// FuzzPages: a leaf page of any bytes, and one that follows it, give lists or ErrCorrupt.
func FuzzPages(f *testing.F) {
	tb := newTable(f, 1)
	for range 5 {
		tb.change()
	}
	pages := pagesOf(f, tb)
	for i := range pages {
		f.Add(pages[i], pages[(i+1)%len(pages)], "w1", i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, token string, prefix bool) {
		c := &chain{key: []byte(mainIndex + token), prefix: prefix}
		err := c.begin(first)
		var l leaf
		if err == nil && !c.ended {
			if l, err = parseLeaf(second); err == nil {
				err = c.resume(l)
			}
		}
		list := new(List)
		for _, d := range c.done {
			if err == nil {
				err = list.addDoclist(d.data, d.whole, func(int64) (bool, error) { return true, nil })
			}
		}
		if err == nil {
			err = list.order()
		}
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !slices.IsSorted(list.Rows()) || len(slices.Compact(slices.Clone(list.Rows()))) != list.Len() {
			t.Fatalf("rows %v", list.Rows())
		}
		useList(t, list)
	})
}

// FuzzRecords: structure, totals and tombstones of any bytes.
func FuzzRecords(f *testing.F) {
	tb := newTable(f, 2)
	for range 5 {
		tb.change()
	}
	for _, p := range pagesOf(f, tb) {
		f.Add(p, uint64(7), uint64(3))
	}
	f.Add([]byte{}, uint64(57), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, row, pages uint64) {
		segments, err := parseStructure(b)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		for _, s := range segments {
			if err == nil && (s.first < 1 || s.last < s.first || s.id < 1) {
				t.Fatalf("segment %+v", s)
			}
		}
		if totals, err := parseTotals(b); err == nil && (totals.Rows < 0 || totals.Tokens < 0) || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%+v, %v", totals, err)
		}
		if len(b) >= graveHeader {
			inGrave(b, max(pages, 1), row)
		}
	})
}

// FuzzVarint: what was appended is read, whatever follows.
func FuzzVarint(f *testing.F) {
	for shift := range 64 {
		f.Add(uint64(1)<<shift, []byte{0xFF})
		f.Add(uint64(1)<<shift-1, []byte{})
	}
	f.Fuzz(func(t *testing.T, v uint64, behind []byte) {
		b := appendVarint(nil, v)
		if got, n := Varint(append(slices.Clone(b), behind...)); got != v || n != len(b) {
			t.Fatalf("%d is %x, read as %d in %d bytes", v, b, got, n)
		}
		for i := range b {
			if _, n := Varint(b[:i]); n != 0 {
				t.Fatalf("%x is read though it ends after %d bytes", b, i)
			}
		}
		Varint(behind)
	})
}

// TestDamage: whatever bytes of the shadow tables are lost, questions are answered or fail with ErrCorrupt.
func TestDamage(t *testing.T) {
	tb := newTable(t, testenv.Random(t).Uint64())
	for range 8 {
		tb.change()
	}
	pages := pagesOf(t, tb)
	tokens := []string{"w0", "w1", "w2", "x1", "x30", "longlong", "\u4E00"}
	failed := 0
	for range 150 {
		spoiled := slices.Clone(pages)
		n := tb.rng.IntN(len(pages))
		spoiled[n] = spoil(tb.rng, pages[n])
		x, err := openPages(t.Context(), tb, spoiled)
		for i := 0; err == nil && i < len(tokens); i++ {
			var l *List
			if l, err = x.Token(t.Context(), tokens[i], i == 6); err == nil {
				useList(t, l)
			}
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

func spoil(rng *rand.Rand, page []byte) []byte {
	b := slices.Clone(page)
	switch rng.IntN(3) {
	case 0:
		return b[:rng.IntN(len(b)+1)]
	case 1:
		for range 1 + rng.IntN(4) {
			if len(b) > 0 {
				b[rng.IntN(len(b))] = byte(rng.IntN(256))
			}
		}
		return b
	}
	return bytes.Repeat([]byte{byte(rng.IntN(256))}, len(b))
}

// openPages opens an index whose rows of fts_data are these.
func openPages(ctx context.Context, tb *table, pages [][]byte) (*Index, error) {
	tb.exec("DROP TABLE IF EXISTS temp.spoiled_data")
	tb.exec("CREATE TABLE temp.spoiled_data(id INTEGER PRIMARY KEY, block BLOB)")
	tb.exec("DROP VIEW IF EXISTS temp.spoiled_idx")
	tb.exec("CREATE TEMP VIEW spoiled_idx AS SELECT * FROM main.fts_idx")
	rows, err := tb.db.Query("SELECT id FROM main.fts_data ORDER BY id")
	if err != nil {
		return nil, err
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i, id := range ids {
		tb.exec("INSERT INTO temp.spoiled_data VALUES(?,?)", id, append([]byte{}, pages[i]...))
	}
	return Open(ctx, "spoiled", func(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
		return tb.db.QueryContext(ctx, query, args...)
	})
}

// TestTombstones: row ids of four and of eight bytes, found and not found, in full and in half-full pages.
func TestTombstones(t *testing.T) {
	for _, size := range []int{4, 8} {
		const slots, pages = 10, 3
		page := make([]byte, 8+slots*size)
		page[0] = byte(size)
		put := func(slot int, row uint64) {
			if size == 4 {
				binary.BigEndian.PutUint32(page[8+slot*size:], uint32(row))
			} else {
				binary.BigEndian.PutUint64(page[8+slot*size:], row)
			}
		}
		put(9, 9*pages+1) // row/pages%slots = 9
		put(0, 19*pages+1)
		put(1, 29*pages+1)
		for row, want := range map[uint64]bool{9*pages + 1: true, 19*pages + 1: true, 29*pages + 1: true, 39*pages + 1: false, 2*pages + 1: false} {
			if got := inGrave(page, pages, row); got != want {
				t.Errorf("%d bytes, row %d: %v", size, row, got)
			}
		}
		for slot := range slots {
			put(slot, 9*pages+1)
		}
		if inGrave(page, pages, 5*pages+1) {
			t.Errorf("%d bytes: found in a page full of others", size)
		}
	}
}

// TestLostTombstones: without them what was deleted would be found again.
func TestLostTombstones(t *testing.T) {
	tb := newTable(t, 1)
	tb.exec("INSERT INTO fts(rowid, a) VALUES(1, 'rope'), (2, 'rope')")
	tb.exec("DELETE FROM fts WHERE rowid=1")
	if l, err := tb.open().Token(t.Context(), "rope", false); err != nil || !slices.Equal(l.Rows(), []int64{2}) {
		t.Fatalf("%v, %v", l, err)
	}
	for _, damage := range []string{"UPDATE fts_data SET block=x'04000000' WHERE id>=?", "DELETE FROM fts_data WHERE id>=?"} {
		if _, err := tb.db.Exec(damage, int64(tombstones)<<pageBits); err != nil {
			t.Fatal(err)
		}
		if l, err := tb.open().Token(t.Context(), "rope", false); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, %v", damage, l, err)
		}
	}
}

// TestLostPages: a list that lacks a part would be a wrong answer.
func TestLostPages(t *testing.T) {
	tb := newTable(t, 1)
	tb.set("pgsz", 64)
	tb.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200) INSERT INTO fts(rowid, a) SELECT i, 'rope' FROM n")
	if l, err := tb.open().Token(t.Context(), "rope", false); err != nil || l.Len() != 200 {
		t.Fatalf("%v, %v", l, err)
	}
	first := int64(1)<<pageBits + 1
	var last int64
	if err := tb.db.QueryRow("SELECT max(id) FROM fts_data WHERE id<?", first+1<<31).Scan(&last); err != nil || last < first+3 {
		t.Fatal(last-first, err)
	}
	for _, lost := range [][2]int64{{last, last}, {first + 1, last}, {first + 1, first + 1}, {first, first}, {first, last}} {
		tb.exec("SAVEPOINT lost")
		tb.exec("DELETE FROM fts_data WHERE id BETWEEN ? AND ?", lost[0], lost[1])
		for _, prefix := range []bool{false, true} {
			if l, err := tb.open().Token(t.Context(), "rope", prefix); !errors.Is(err, ErrCorrupt) {
				t.Errorf("without pages %d to %d: %d rows, %v", lost[0]-first+1, lost[1]-first+1, l.Len(), err)
			}
		}
		tb.exec("ROLLBACK TO lost")
	}
}
