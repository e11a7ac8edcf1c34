package main

import (
	"bytes"
	"testing"
)

func TestBank(t *testing.T) {
	dir := t.TempDir()
	for _, dir := range []string{"", dir, dir} { // in memory; on disk; and once more
		var out bytes.Buffer
		if err := run(t.Context(), dir, &out); err != nil {
			t.Fatal(err)
		}
		const want = "100 accounts, 100000 in all\n"
		if out.String() != want+want {
			t.Errorf("printed %q, want %q twice", out.String(), want)
		}
	}
}
