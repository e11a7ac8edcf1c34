package txn

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
)

var someWrites = []writeRecord{
	{op: opPut, start: 1},
	{op: opPut, start: store.MaxTS, inline: true, value: []byte{}},
	{op: opPut, start: 300, inline: true, value: []byte("value\x00")},
	{op: opDelete, start: 7},
	{op: opLock, start: 7},
	{op: opRead, start: 7},
}

var someLocks = []lockRecord{
	{start: 5, op: opPut, primary: Cell{"row", Column{"g", "c"}}, token: "1", wall: time.Unix(0, 1234567890)},
	{start: 5, op: opPut, primary: Cell{"", Column{"", ""}}, wall: time.Unix(0, -1), inline: true, value: []byte{}},
	{start: 5, op: opLock, primary: Cell{"r\x00\xff", Column{"g", "\x00"}}, token: "99", wall: time.Unix(0, 0), acks: []string{"", "observer"}},
	{start: 5, op: opRead, primary: Cell{"row", Column{"g", "c"}}, token: "1", wall: time.Unix(0, 1)},
	{start: 5, op: opDelete, wall: time.Unix(1<<33, 0), acks: []string{"a"}},
	{start: 5, op: opPut, wall: time.Unix(0, 0), inline: true, value: bytes.Repeat([]byte("v"), inlineLimit)},
}

func TestRecordsSurvive(t *testing.T) {
	for _, w := range someWrites {
		got, err := decodeWrite(w.encode())
		if err != nil || !reflect.DeepEqual(got, w) {
			t.Errorf("%+v became %+v, %v", w, got, err)
		}
	}
	for _, l := range someLocks {
		got, err := decodeLock(store.Cell{TS: l.start, Value: l.encode()})
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%+v became %+v, %v", l, got, err)
		}
	}
}

// Every proper prefix of a record is an error, but for a value cut short, which
// has no length of its own.
func TestShortRecordsAreErrors(t *testing.T) {
	for _, w := range someWrites {
		for i, b := 0, w.encode(); i < len(b)-len(w.value); i++ {
			if got, err := decodeWrite(b[:i]); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%d bytes of %+v became %+v, %v", i, w, got, err)
			}
		}
	}
	for _, l := range someLocks {
		for i, b := 0, l.encode(); i < len(b)-len(l.value); i++ {
			if got, err := decodeLock(store.Cell{Value: b[:i]}); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%d bytes of %+v became %+v, %v", i, l, got, err)
			}
		}
	}
}

func TestBadRecordsAreErrors(t *testing.T) {
	for name, b := range map[string][]byte{
		"unknown operation": {4, 0, 0, 0, 0, 0, 0, 0, 1, 0},
		"unknown flag":      {0, 0, 0, 0, 0, 0, 0, 0, 1, 2},
		"trailing bytes":    {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 7},
	} {
		if _, err := decodeWrite(b); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("write record with %s: %v", name, err)
		}
	}
	good := someLocks[0].encode()
	for name, b := range map[string][]byte{
		"unknown operation": append([]byte{9}, good[1:]...),
		"unknown flag":      append(bytes.Clone(good[:len(good)-1]), 2),
		"trailing bytes":    append(bytes.Clone(good), 0),
		"endless string":    {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	} {
		if _, err := decodeLock(store.Cell{Value: b}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("lock record with %s: %v", name, err)
		}
	}
}

func TestColumnNamesSurvive(t *testing.T) {
	for _, c := range []Column{{"g", "name"}, {"g", ""}, {"g", "a\x00b"}, {"", "x"}} {
		if got, ok := parseSideColumn(sideColumn(c)); !ok || got != c {
			t.Errorf("%q became %q", c, got)
		}
		got, observer, ok := parseObserverColumn(observerColumn(c, "obs"))
		if !ok || got != c || observer != "obs" {
			t.Errorf("%q of obs became %q of %q", c, got, observer)
		}
	}
	for _, bad := range []string{"", "a", "a\x00b"} {
		if _, _, ok := parseObserverColumn([]byte(bad)); ok {
			t.Errorf("%q was taken for an observer's column", bad)
		}
	}
}

func FuzzDecodeWrite(f *testing.F) {
	for _, w := range someWrites {
		f.Add(w.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if w, err := decodeWrite(b); err == nil && !bytes.Equal(w.encode(), b) {
			t.Errorf("%x became %+v, and that %x", b, w, w.encode())
		}
	})
}

func FuzzDecodeLock(f *testing.F) {
	for _, l := range someLocks {
		f.Add(l.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := decodeLock(store.Cell{Value: b})
		if err != nil {
			return
		}
		// Varints have several forms, so the bytes may differ; what they mean must not.
		again, err := decodeLock(store.Cell{Value: l.encode()})
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("%x became %+v, and that %+v, %v", b, l, again, err)
		}
	})
}
