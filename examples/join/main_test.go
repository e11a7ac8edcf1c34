package main

import (
	"bytes"
	"testing"
)

func TestJoin(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	const want = `at first: Lima 5
at first: Oslo 17
ann moved to Lima: Lima 22
ann moved to Lima: Oslo 0
an order changed: Lima 23
an order changed: Oslo 0
`
	if out.String() != want {
		t.Errorf("printed\n%s, want\n%s", out.String(), want)
	}
}
