package export

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// Random records through a sorter with little memory come out like from a sort in
// memory, twice, and no file is left.
func TestSorterAgainstSort(t *testing.T) {
	r := testenv.Random(t)
	for round := range 60 {
		dir := t.TempDir()
		limit := 1 + r.IntN(2000)
		s := NewSorter(dir, limit)
		var want [][]byte
		for range r.IntN(500) {
			record := make([]byte, r.IntN(1+r.IntN(60)))
			for i := range record {
				record[i] = byte(r.IntN(3)) * 100
			}
			want = append(want, bytes.Clone(record))
			if err := s.Add(record); err != nil {
				t.Fatal(err)
			}
			clear(record) // the sorter has its own
		}
		slices.SortFunc(want, bytes.Compare)
		for range 2 {
			var got [][]byte
			if err := s.Sorted(func(record []byte) error {
				got = append(got, bytes.Clone(record))
				_ = append(record, "behind"...) // must not reach the next record
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("round %d, limit %d: %d records of %d, or in another order", round, limit, len(got), len(want))
			}
		}
		if cap(s.buf) > 4*limit+1000 {
			t.Errorf("limit %d: a buffer of %d bytes", limit, cap(s.buf))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// An error of the given function ends the sort, from memory and from runs.
func TestSorterPassesErrorsOn(t *testing.T) {
	stop := errors.New("stop")
	for _, limit := range []int{0, 1} {
		s := NewSorter(t.TempDir(), limit)
		for _, record := range []string{"b", "a", "c"} {
			if err := s.Add([]byte(record)); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		if err := s.Sorted(func([]byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
			t.Errorf("limit %d: %v after %d", limit, err, n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A missing directory is made. A directory that cannot be made, and a run that was cut off or damaged, are
// errors.
func TestSorterWithoutItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]error{filepath.Join(t.TempDir(), "none"): nil, filepath.Join(file, "none"): syscall.ENOTDIR} {
		s := NewSorter(dir, 1)
		if err := s.Add([]byte("a")); err != nil {
			t.Fatal(err)
		}
		if err := s.Add([]byte("b")); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", dir, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	s := NewSorter(t.TempDir(), 45) // two records a run
	for _, record := range []string{"aaaa", "bbbb", "cccc", "dddd"} {
		if err := s.Add([]byte(record)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sorted(func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{17, 15, 10} { // in a record, after it, and before the run
		if err := s.file.file.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if err := s.Sorted(func([]byte) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut off after %d bytes: %v", size, err)
		}
	}
	if _, err := s.file.file.WriteAt([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Sorted(func([]byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "changed or damaged") {
		t.Errorf("a damaged length: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A sorter that was reset has only what is added afterwards, whether or not it had
// spilled before.
func TestSorterReset(t *testing.T) {
	dir := t.TempDir()
	s := NewSorter(dir, 100)
	for round, records := range []int{1, 50, 0, 2, 80, 3} {
		for n := range records {
			if err := s.Add([]byte{byte(round), byte(records - n), 0, 0, 0, 0, 0, 0}); err != nil {
				t.Fatal(err)
			}
		}
		got := 0
		if err := s.Sorted(func(record []byte) error {
			if got++; record[0] != byte(round) || record[1] != byte(got) {
				t.Errorf("round %d: record %d is %v", round, got, record)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got != records {
			t.Errorf("round %d: %d records, want %d", round, got, records)
		}
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
