package repository

import (
	"testing"

	"github.com/webindexer/indexer/index"
)

// TestWritten: the cell is read as it was written, in all its forms, and files count as
// unchanged only if the repository was closed and everything agrees.
func TestWritten(t *testing.T) {
	open := written{id: "abc", applied: 7}
	closed := written{id: "abc", applied: 7, closed: true, sum: 1<<63 + 5, documents: 3}
	now := index.State{Applied: 7, Documents: 3, Sum: 1<<63 + 5, Seq: 99}
	for cell, want := range map[string]written{"abc": {id: "abc"}, string(open.cell()): open, string(closed.cell()): closed, "": {}} {
		if got, err := parseWritten(cell); err != nil || got != want {
			t.Errorf("%q: %+v, %v", cell, got, err)
		}
	}
	for _, cell := range []string{"abc x", "abc 1 2", "abc 1 2 x", "abc 1 2 3 4", "abc -1", "abc 1 -2 3"} {
		if got, err := parseWritten(cell); err == nil {
			t.Errorf("%q is read as %+v", cell, got)
		}
	}
	if !closed.unchanged("abc", now) || closed.unchanged("abd", now) || open.unchanged("abc", now) {
		t.Error("unchanged is wrong about the identity, or about a repository that was not closed")
	}
	for _, other := range []index.State{{Applied: 8, Documents: 3, Sum: now.Sum}, {Applied: 7, Documents: 2, Sum: now.Sum}, {Applied: 7, Documents: 3, Sum: 1}} {
		if closed.unchanged("abc", other) {
			t.Errorf("%+v counts as unchanged", other)
		}
	}
}
