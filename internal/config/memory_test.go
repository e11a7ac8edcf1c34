package config

import "testing"

func TestShareOf(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		total uint64
		want  int64
	}{
		{0, 600 << 20}, // not known
		{100 << 20, 64 << 20},
		{gib, gib / 2},
		{2 * gib, 600 << 20},
		{4 * gib, gib},
		{24 * gib, 6 * gib},
		{1 << 40, 16 * gib},
	} {
		if got := shareOf(c.total); got != c.want {
			t.Errorf("of %d MiB: %d MiB, want %d", c.total>>20, got>>20, c.want>>20)
		}
	}
	if got := (&Config{Memory: 700}).MemoryBytes(); got != 700<<20 {
		t.Errorf("a number: %d", got)
	}
	if got := (&Config{}).MemoryBytes(); got < autoLeast {
		t.Errorf("auto: %d", got)
	}
}
