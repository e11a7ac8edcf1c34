package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

func TestNewSchema(t *testing.T) {
	for _, tc := range []struct {
		names []string
		err   string
	}{
		{nil, ""},
		{[]string{"a", "b"}, ""},
		{[]string{"a", ""}, "needs a name"},
		{[]string{"a", "b", "a"}, `"a" is declared twice`},
		{[]string{strings.Repeat("x", MaxGroupName)}, ""},
		{[]string{strings.Repeat("x", MaxGroupName+1)}, "at most 200"},
	} {
		var specs []store.GroupSpec
		for _, n := range tc.names {
			specs = append(specs, store.GroupSpec{Name: n})
		}
		_, err := NewSchema(specs)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("NewSchema(%q): %v, want %q", tc.names, err, tc.err)
		}
	}
	s, err := NewSchema([]store.GroupSpec{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if i, err := s.Group("b"); i != 1 || err != nil {
		t.Errorf("Group(b) = %d, %v", i, err)
	}
	if _, err := s.Group("c"); !errors.Is(err, store.ErrUnknownGroup) {
		t.Errorf("Group(c): %v", err)
	}
}
