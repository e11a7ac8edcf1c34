package repository

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestClosedGraph: the next process gets the notes of the cached link graph, if they are whole and of
// this state of the store.
func TestClosedGraph(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "graph.changed")
	open := func() *Repository {
		r, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	closeIt := func(r *Repository) {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func() []byte {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	r := open()
	r.graph.Restore(7, [][]byte{[]byte("a"), []byte("b\xff")})
	closeIt(r)
	first := read()

	r = open()
	stored, rows, ok := r.graph.Notes()
	if !ok || stored != 7 || len(rows) != 2 || string(rows[1]) != "b\xff" {
		t.Errorf("file %d, rows %q, %t", stored, rows, ok)
	}
	closeIt(r)

	for what, change := range map[string]func(now []byte) []byte{
		"notes of an earlier closing": func([]byte) []byte { return first },
		"damaged notes":               func(now []byte) []byte { return bytes.Replace(now, []byte(`"graph":7`), []byte(`"graph":6`), 1) },
		"empty":                       func([]byte) []byte { return []byte{} },
		"a directory":                 func([]byte) []byte { return nil },
	} {
		r := open()
		r.graph.Restore(7, nil)
		closeIt(r)
		content := change(read())
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		var err error
		if content == nil {
			err = os.Mkdir(file, 0o700)
		} else {
			err = os.WriteFile(file, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		r = open()
		if stored, rows, ok := r.graph.Notes(); ok {
			t.Errorf("%s: taken over: file %d, rows %q", what, stored, rows)
		}
		closeIt(r)
		if content == nil {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}
