package store_test

import (
	"testing"

	"github.com/webindexer/indexer/store"
)

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{"": "", "a": "b", "a\xff": "b", "\xff\xff": "", "a\xfe\xff": "a\xff", "\x00": "\x01", "a\x00": "a\x01"} {
		if got := store.PrefixEnd([]byte(prefix)); string(got) != want || (got == nil) != (want == "") {
			t.Errorf("%q ends before %q, want %q", prefix, got, want)
		}
	}
}
