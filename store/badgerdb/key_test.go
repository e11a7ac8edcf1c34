package badgerdb

import (
	"bytes"
	"cmp"
	"testing"
)

// FuzzKey: keys come back as they went in, and sort like rows, columns and
// timestamps from the newest down.
func FuzzKey(f *testing.F) {
	f.Add([]byte("r"), []byte("c"), uint64(1), []byte("r\x00"), []byte(""), uint64(2))
	f.Add([]byte("a\x00\xff"), []byte("\x00\x01"), uint64(0), []byte("a\x00"), []byte("\xff\x00\x01"), ^uint64(0)-1)
	f.Add([]byte(""), []byte("\x00"), uint64(9), []byte(""), []byte("\x00\x00"), uint64(8))
	g := &group{id: firstGroupID}
	f.Fuzz(func(t *testing.T, row1, col1 []byte, ts1 uint64, row2, col2 []byte, ts2 uint64) {
		k1, k2 := g.key(row1, col1, ts1), g.key(row2, col2, ts2)
		want := cmp.Or(bytes.Compare(row1, row2), bytes.Compare(col1, col2), cmp.Compare(ts2, ts1))
		if got := bytes.Compare(k1, k2); got != want {
			t.Errorf("%x and %x compare as %d, want %d", k1, k2, got, want)
		}
		head, ts, err := splitTS(k1)
		if err != nil || ts != ts1 {
			t.Fatalf("splitTS(%x) = %d, %v", k1, ts, err)
		}
		end, err := rowEnd(head)
		if err != nil {
			t.Fatalf("rowEnd(%x): %v", head, err)
		}
		if row, col := unescape(head[1:end]), unescape(head[end:]); !bytes.Equal(row, row1) || !bytes.Equal(col, col1) {
			t.Errorf("%x gives row %q, column %q; want %q, %q", k1, row, col, row1, col1)
		}
		if !bytes.HasPrefix(appendName(nil, append(bytes.Clone(col1), col2...)), appendEscaped(nil, col1)) {
			t.Errorf("the escaped %q is no prefix of what starts with it", col1)
		}
	})
}

// FuzzDecode: bytes from a damaged store give errors, not panics.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, "128 latest \"x\"\n")
	f.Add([]byte("\x80a\x00"), "1 latest \"x\"\n")
	f.Add([]byte("\x80a\x00\x02\x00\x01"), "300 versions x\n")
	f.Add([]byte("\x80a\x00\x01c\x00\x0112345678"), "")
	f.Fuzz(func(t *testing.T, key []byte, table string) {
		if head, _, err := splitTS(key); err == nil {
			if end, err := rowEnd(head); err == nil {
				_ = unescape(head[1:end])
			}
		}
		_, _, _ = splitLatest(key, key)
		_, _ = splitPlain(key, key)
		_, _, _ = parseGroups(table)
		var b bounds
		_ = b.decode([]group{{id: firstGroupID}}, key)
	})
}
