package trace

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/txn"
)

// The last records stay, in their order, and are found by row; errors are cut, and
// conflicts told from failures.
func TestLog(t *testing.T) {
	l := NewLog(4)
	for i := range 10 {
		l.Attempt(notify.Attempt{Observer: "o", Rows: []string{"a", fmt.Sprint(i)}, Start: uint64(i), Began: noon, Took: time.Second})
	}
	var starts []uint64
	for _, r := range l.of("a") {
		starts = append(starts, r.start)
	}
	if fmt.Sprint(starts) != "[8 9]" || len(l.of("7")) != 0 || len(l.of("9")) != 1 || l.of("9")[0].batch != 2 {
		t.Errorf("starts %v", starts)
	}
	l.Attempt(notify.Attempt{Rows: []string{"x"}, Err: errors.New(strings.Repeat("long", 1000))})
	l.Attempt(notify.Attempt{Rows: []string{"x"}, Err: fmt.Errorf("commit: %w", txn.ErrConflict)})
	l.Loaded("x")
	l.Found("x", noon, noon.Add(time.Minute))
	r := l.of("x")
	if len(r) != 4 || len(r[0].err) != maxError || r[0].conflict || !r[1].conflict || r[2].kind != loaded || r[3].kind != found || r[3].end-r[3].began != int64(time.Minute) {
		t.Errorf("records %+v", r)
	}
}

// An error is cut between two characters.
func TestLogCutsErrors(t *testing.T) {
	l := NewLog(1)
	l.Attempt(notify.Attempt{Rows: []string{"x"}, Err: errors.New("x" + strings.Repeat("é", maxError))})
	if text := l.of("x")[0].err; !utf8.ValidString(text) || len(text) != maxError-1 {
		t.Errorf("%d bytes, which end with %q", len(text), text[len(text)-2:])
	}
}

// No Log remembers nothing, and minds nothing.
func TestNoLog(t *testing.T) {
	for _, l := range []*Log{nil, NewLog(0), NewLog(-1)} {
		l.Attempt(notify.Attempt{Rows: []string{"x"}})
		l.Loaded("x")
		l.Found("x", noon, noon)
		if l.of("x") != nil {
			t.Error("it remembers")
		}
	}
}

func TestLogOfMany(t *testing.T) {
	l := NewLog(100)
	var g sync.WaitGroup
	for i := range 8 {
		g.Go(func() {
			for range 500 {
				l.Attempt(notify.Attempt{Rows: []string{fmt.Sprint(i)}})
				l.of("3")
			}
		})
	}
	g.Wait()
	if n := len(l.ring); n != 100 {
		t.Errorf("%d records", n)
	}
}

// BenchmarkLog is what the pipeline pays for a run on one row.
func BenchmarkLog(b *testing.B) {
	a := notify.Attempt{Observer: "document", Rows: []string{"com.example.www/https/a/path/to/a/page"}, Start: 1, Commit: 2, Began: noon, Took: time.Millisecond}
	l := NewLog(DefaultRecords)
	b.ReportAllocs()
	for b.Loop() {
		l.Attempt(a)
	}
}
