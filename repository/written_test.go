package repository

import "testing"

// TestWritten: the cell is read as it was written, in all its forms, and in that of earlier
// versions.
func TestWritten(t *testing.T) {
	open := written{id: "abc", applied: 7}
	elsewhere := written{id: "abc", applied: 7, elsewhere: true}
	for cell, want := range map[string]written{"abc": {id: "abc"}, string(open.cell()): open, string(elsewhere.cell()): elsewhere, "abc 7 9223372036854775813 3": open, "": {}} {
		if got, err := parseWritten(cell); err != nil || got != want {
			t.Errorf("%q: %+v, %v", cell, got, err)
		}
	}
	for _, cell := range []string{"abc x", "abc 1 2", "abc 1 2 x", "abc 1 2 3 4", "abc -1", "abc 1 -2 3"} {
		if got, err := parseWritten(cell); err == nil {
			t.Errorf("%q is read as %+v", cell, got)
		}
	}
}
