package txn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// model is snapshot isolation in its plainest form: all versions of all cells,
// and a rule for who may commit. It knows no locks, no steps and no store.
type model struct {
	versions map[Cell][]modelVersion // ascending
	acks     map[Cell]uint64         // start timestamp of the last run
	answered map[Cell]uint64         // notifications up to here may be gone
	locked   map[Cell]uint64         // commit timestamp of the last that got it for update
}

type modelVersion struct {
	commit uint64
	value  string
	gone   bool // deleted
}

// modelTxn is what the model knows about a transaction.
type modelTxn struct {
	start    uint64
	writes   map[Cell]modelVersion
	triggers map[Cell]uint64 // timestamp of the notification
	locks    map[Cell]bool   // got for update
}

func newModel() *model {
	return &model{versions: make(map[Cell][]modelVersion), acks: make(map[Cell]uint64), answered: make(map[Cell]uint64), locked: make(map[Cell]uint64)}
}

// get is what a transaction must read.
func (m *model) get(t *modelTxn, c Cell) Value {
	if w, ok := t.writes[c]; ok {
		return w.asValue(0)
	}
	vs := m.versions[c]
	for i := len(vs) - 1; i >= 0; i-- {
		if vs[i].commit < t.start {
			return vs[i].asValue(vs[i].commit)
		}
	}
	return Value{}
}

func (v modelVersion) asValue(ts uint64) Value {
	if v.gone {
		return Value{}
	}
	return Value{Data: []byte(v.value), TS: ts, Exists: true}
}

// row is what a transaction must read of a row, or of all rows for "".
func (m *model) row(t *modelTxn, row string) []string {
	cells := make(map[Cell]bool)
	for c := range m.versions {
		cells[c] = true
	}
	for c := range t.writes {
		cells[c] = true
	}
	var out []string
	for c := range cells {
		if v := m.get(t, c); v.Exists && (row == "" || row == c.Row) {
			out = append(out, describeVersion(c.Row, Version{c.Name, v}))
		}
	}
	slices.Sort(out)
	return out
}

func describeVersion(row string, v Version) string {
	return fmt.Sprintf("%s %s = %s @ %d", row, v.Name, v.Data, v.TS)
}

// refusal says why a transaction must not commit; "" if it must, as far as
// finished transactions are concerned.
func (m *model) refusal(t *modelTxn) string {
	for c := range t.changes() {
		if vs := m.versions[c]; len(vs) > 0 && vs[len(vs)-1].commit > t.start {
			return fmt.Sprintf("%s was written at %d", c, vs[len(vs)-1].commit)
		}
		if m.locked[c] > t.start {
			return fmt.Sprintf("%s was read for update at %d", c, m.locked[c])
		}
	}
	for c, ts := range t.triggers {
		if m.acks[c] >= ts {
			return fmt.Sprintf("%s was acknowledged at %d", c, m.acks[c])
		}
	}
	return ""
}

// commit applies a transaction.
func (m *model) commit(t *modelTxn, commit uint64) {
	for c, w := range t.writes {
		w.commit = commit
		m.versions[c] = append(m.versions[c], w)
		slices.SortFunc(m.versions[c], func(a, b modelVersion) int { return cmp.Compare(a.commit, b.commit) })
	}
	for c := range t.locks {
		if _, written := t.writes[c]; !written {
			m.locked[c] = max(m.locked[c], commit)
		}
	}
	for c := range t.triggers {
		m.acks[c] = max(m.acks[c], t.start)
		m.answered[c] = max(m.answered[c], t.start)
	}
}

// touches reports whether a transaction locks a cell when it commits.
func (t *modelTxn) touches(c Cell) bool {
	_, written := t.writes[c]
	_, trigger := t.triggers[c]
	return written || trigger || t.locks[c]
}

// changes are the cells that a transaction writes, or counts as writing.
func (t *modelTxn) changes() map[Cell]bool {
	cells := maps.Clone(t.locks)
	for c := range t.writes {
		cells[c] = true
	}
	return cells
}
