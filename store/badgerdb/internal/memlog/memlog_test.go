package memlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webindexer/indexer/store"
)

// record is a record of a log.
func record(meta byte, group uint64, value []byte) []byte {
	key := binary.BigEndian.AppendUint64([]byte("key"), ^group)
	b := []byte{meta, userMeta}
	for _, n := range []int{len(key), len(value), 0} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = slices.Concat(b, key, value)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// records are those of a group with one entry.
func records(group uint64, value []byte) []byte {
	return append(record(txnBits&^endBit, group, value), record(endBit, group, []byte("end"))...)
}

func readLog(t testing.TB, contents []byte) *Log {
	t.Helper()
	l := &Log{File: filepath.Join(t.TempDir(), "00001"+Suffix)}
	if err := os.WriteFile(l.File, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.read(nil); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestCheckTorn: a log with a damaged record is told from one that a crash has cut short.
func TestCheckTorn(t *testing.T) {
	first, second := records(1, make([]byte, 50)), records(2, bytes.Repeat([]byte("v"), 2*page))
	log := slices.Concat(make([]byte, HeaderBytes), first, second, records(3, []byte("value")))
	from, to := HeaderBytes+len(first), len(log) // the second group begins, and the last one ends
	log = append(log, make([]byte, 4*page)...)
	for _, tc := range []struct {
		name   string
		damage func(log []byte)
		broken bool
	}{
		{"whole", func([]byte) {}, false},
		{"a value", func(log []byte) { log[from+page] ^= 1 }, true},
		{"a value of the last record", func(log []byte) { log[to-5] ^= 1 }, true},
		{"the length of a value", func(log []byte) { log[from+4] ^= 0x40 }, true},
		{"an impossible length", func(log []byte) { log[from+2] = 0 }, true},
		{"a page was not written", func(log []byte) { clear(log[page : 2*page]) }, false},
		{"nothing of a group was written", func(log []byte) { clear(log[from:]) }, false},
		{"a part of a group was written", func(log []byte) { clear(log[from+100:]) }, false},
		{"no checksum was written", func(log []byte) { clear(log[to-4:]) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			damaged := bytes.Clone(log)
			tc.damage(damaged)
			err := readLog(t, damaged).CheckTorn()
			if want := map[bool]error{true: store.ErrCorrupt}[tc.broken]; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
}

// TestCut: the groups before the cut stay in a log of the same size, and the records of the others,
// but not the empty rest of the log, are in another file.
func TestCut(t *testing.T) {
	first, rest := records(1, []byte("first")), append(records(2, []byte("second")), records(3, []byte("third"))...)
	l := readLog(t, slices.Concat(make([]byte, HeaderBytes), first, rest, make([]byte, 4*page)))
	at, err := l.FirstGroup(func(value []byte) (bool, error) { return string(value) == "second", nil })
	if want := int64(HeaderBytes + len(first)); err != nil || at != want {
		t.Fatalf("the second group begins at %d, %v, want %d", at, err, want)
	}
	before, err := os.Stat(l.File)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Cut(at); err != nil {
		t.Fatal(err)
	}
	if l.First != 1 || l.Last != 1 || l.Number != 0 || l.Stop != at {
		t.Errorf("after the cut: %+v", l)
	}
	if after, err := os.Stat(l.File); err != nil || after.Size() != before.Size() {
		t.Errorf("the log had %d bytes, and has %d, %v", before.Size(), after.Size(), err)
	}
	if kept, err := os.ReadFile(l.File + lostSuffix); err != nil || !bytes.Equal(kept, rest) {
		t.Errorf("kept %d bytes of %d, %v", len(kept), len(rest), err)
	}
}

// BenchmarkCheckTorn looks for a whole record in two megabytes that have none.
func BenchmarkCheckTorn(b *testing.B) {
	log := make([]byte, HeaderBytes+2<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(log[HeaderBytes:])
	l := readLog(b, log)
	for b.Loop() {
		if err := l.CheckTorn(); !errors.Is(err, store.ErrCorrupt) {
			b.Fatal(err)
		}
	}
}
