package schema

import (
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestZstdValues: values that earlier versions compressed with zstd are still read.
func TestZstdValues(t *testing.T) {
	for _, c := range []struct {
		stored string
		decode func([]byte) (any, error)
		want   any
	}{
		{
			"28b52ffd04001d0100b4013c703e77686174207761732073746f726564206265666f72652c2001541404136f0f0d425b",
			func(b []byte) (any, error) { return DecodeBody(b) },
			[]byte("<p>what was stored before, what was stored before"),
		},
		{
			"28b52ffd0400390000015402656e01740a3cc577",
			func(b []byte) (any, error) { return DecodeText(b) },
			StoredText{Title: "T", Text: "t", Language: "en"},
		},
		{
			"28b52ffd0400d10000011368747470733a2f2f612e6578616d706c652f78020161016261c1a1f2",
			func(b []byte) (any, error) { return DecodeLinks(b) },
			[]TargetLinks{{Target: someURL, Anchors: []string{"a", "b"}}},
		},
	} {
		b, err := hex.DecodeString(c.stored)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.decode(b); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.stored, got, err, c.want)
		}
	}
}

// TestFlippedBits: a value with one wrong bit is refused, wherever the bit is.
func TestFlippedBits(t *testing.T) {
	b := EncodeBody([]byte(strings.Repeat("body ", 100) + "end"))
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		if _, err := DecodeBody(b); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("bit %d: %v", i, err)
		}
		b[i/8] ^= 1 << (i % 8)
	}
	if _, err := DecodeBody(b); err != nil {
		t.Error(err)
	}
}
