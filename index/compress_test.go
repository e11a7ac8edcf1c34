package index

import (
	"errors"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	for _, text := range []string{"", "a", "härbour " + strings.Repeat("rope and nets, ", 50), strings.Repeat("x", headSize-1) + "é", strings.Repeat("much ", headSize)} {
		head, rest := pack(text)
		if head == nil || (len(text) > headSize) != (rest != nil) {
			t.Errorf("%d bytes: head is nil: %v, rest is nil: %v", len(text), head == nil, rest == nil)
		}
		got, err := unpack(head, rest)
		if err != nil || got != text {
			t.Errorf("%d bytes come back as %d (%v)", len(text), len(got), err)
		}
		if first, err := unpack(head); err != nil || !strings.HasPrefix(text, first) || len(first) > headSize {
			t.Errorf("the head of %d bytes is %d (%v)", len(text), len(first), err)
		}
	}
}

// TestPackDamaged: no damaged part of a text is mistaken for a text.
func TestPackDamaged(t *testing.T) {
	head, _ := pack("harbour " + strings.Repeat("rope and nets, ", 50))
	for i := range head {
		for bit := range 8 {
			head[i] ^= 1 << bit
			if text, err := unpack(head); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, bit %d: %q, %v", i, bit, text, err)
			}
			head[i] ^= 1 << bit
		}
	}
	for n := 1; n < len(head); n++ {
		if text, err := unpack(head[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d of %d bytes: %q, %v", n, len(head), text, err)
		}
	}
}
