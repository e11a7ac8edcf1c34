package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/store"
)

// MaxGroupName bounds the length of a group's name, in bytes.
const MaxGroupName = 200

// Schema is the set of locality groups of a table, numbered from 0 in the order
// they were declared.
type Schema struct {
	specs []store.GroupSpec
	index map[string]int
}

// NewSchema checks that names are present, unique and not absurdly long.
func NewSchema(specs []store.GroupSpec) (*Schema, error) {
	s := &Schema{specs: slices.Clone(specs), index: make(map[string]int, len(specs))}
	for i, g := range specs {
		if g.Name == "" {
			return nil, errors.New("store: a locality group needs a name")
		}
		if len(g.Name) > MaxGroupName {
			return nil, fmt.Errorf("store: name of locality group %.40q… has %d bytes, at most %d are allowed", g.Name, len(g.Name), MaxGroupName)
		}
		if _, dup := s.index[g.Name]; dup {
			return nil, fmt.Errorf("store: locality group %q is declared twice", g.Name)
		}
		s.index[g.Name] = i
	}
	return s, nil
}

// Specs returns a copy of the declarations.
func (s *Schema) Specs() []store.GroupSpec { return slices.Clone(s.specs) }

// Len is the number of groups.
func (s *Schema) Len() int { return len(s.specs) }

// Spec returns the declaration with a number.
func (s *Schema) Spec(i int) store.GroupSpec { return s.specs[i] }

// Group returns the number of a group, or store.ErrUnknownGroup.
func (s *Schema) Group(name string) (int, error) {
	if i, ok := s.index[name]; ok {
		return i, nil
	}
	return 0, fmt.Errorf("%w %q: declare it when the table is opened", store.ErrUnknownGroup, name)
}

// Selectors checks the groups of selectors.
func (s *Schema) Selectors(sel []store.Selector) error {
	for i := range sel {
		if _, err := s.Group(sel[i].Group); err != nil {
			return err
		}
	}
	return nil
}

// TSRange returns the inclusive bounds that a Selector's or Range's MinTS and
// MaxTS stand for.
func TSRange(minTS, maxTS uint64) (lo, hi uint64) {
	if maxTS == 0 {
		maxTS = store.MaxTS
	}
	return minTS, maxTS
}
