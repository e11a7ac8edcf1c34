package cli

import (
	"fmt"
	"strings"
)

// table is text in two columns: names and values.
type table struct{ b strings.Builder }

const nameColumn = 16

func (t *table) row(name, value string) {
	fmt.Fprintf(&t.b, "%-*s %s\n", nameColumn, plain(name), plain(value))
}

// optional adds a row if there is a value.
func (t *table) optional(name, value string) {
	if value != "" {
		t.row(name, value)
	}
}

// String returns the whole table.
func (t *table) String() string { return t.b.String() }

// maxListed bounds the lists in text; JSON has all entries.
const maxListed = 20

// list adds the first items under a name, and the number of the remaining ones.
func list[T any](t *table, name string, items []T, text func(T) string) {
	if len(items) == 0 {
		return
	}
	t.row(name, fmt.Sprint(len(items)))
	for i, item := range items {
		if i == maxListed {
			t.row("", fmt.Sprintf("and %d more (--format json has all)", len(items)-i))
			return
		}
		t.row("", text(item))
	}
}
