package notify

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/txn"
)

// ran is a run that committed.
type ran struct{ start, commit uint64 }

// judge compares what is in the table with the promise. The table itself says who
// committed, and when: the marks of loaders and the notes of runs were written in
// their transactions. For each observer and row, with the changes at their commit
// timestamps and the runs that committed by start timestamp:
//
//	seen      the last run started after the last change
//	once      a strong observer's run has a change between the start of the run
//	          before it and its own: it is for a change that no other run was for
//
// A spurious notification, from a loader's transaction that did not commit, may cause
// one more run. At the end all work must be done.
func (m *machine) judge() error {
	ctx := context.Background()
	changes, runs, spurious := make(map[string][]uint64), make(map[string][]ran), make(map[string]int)
	marked := make(map[int]bool)
	tx, err := m.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = tx.Scan(ctx, "app", "", "", func(row string, cols []txn.Version) error {
		part := strings.Split(row, "/")
		switch part[0] {
		case "mark":
			id, err := strconv.Atoi(part[1])
			if err != nil {
				return err
			}
			marked[id] = true
			for _, r := range m.loaded[id].rows {
				changes["x/"+r] = append(changes["x/"+r], cols[0].TS)
			}
		case "run":
			start, err := strconv.ParseUint(part[3], 10, 64)
			if err != nil {
				return err
			}
			runs[part[1]+"/"+part[2]] = append(runs[part[1]+"/"+part[2]], ran{start, cols[0].TS})
			if part[1] == "first" {
				changes["y/"+part[2]] = append(changes["y/"+part[2]], cols[0].TS)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, l := range m.loaded {
		if l.err == nil && !marked[id] {
			return fmt.Errorf("transaction %d of a loader was acknowledged and is lost", id)
		}
		if !marked[id] {
			for _, r := range l.rows {
				spurious["x/"+r]++
			}
		}
	}
	for _, o := range m.p.registry.list {
		for _, row := range rowNames {
			at := o.Watches.Name + "/" + row
			if err := judgeRow(changes[at], runs[o.Name+"/"+row], spurious[at], !o.Weak); err != nil {
				return fmt.Errorf("observer %s, row %s: %w; changes at %v, runs %v", o.Name, row, err, changes[at], runs[o.Name+"/"+row])
			}
		}
	}
	return m.nothingLeft(ctx)
}

func judgeRow(changes []uint64, runs []ran, spurious int, strong bool) error {
	slices.Sort(changes)
	slices.SortFunc(runs, func(a, b ran) int { return int(a.start) - int(b.start) })
	before, extra := uint64(0), 0
	for _, r := range runs {
		isNew := func(c uint64) bool { return before < c && c < r.start }
		if !slices.ContainsFunc(changes, isNew) {
			extra++
		}
		before = r.start
	}
	switch {
	case len(changes) > 0 && changes[len(changes)-1] > before:
		return fmt.Errorf("nobody has seen the last change")
	case strong && extra > spurious:
		return fmt.Errorf("%d runs too many for the changes there were, and %d spurious notifications", extra, spurious)
	}
	return nil
}

func (m *machine) nothingLeft(ctx context.Context) error {
	notes, _, err := m.db.Notifications(ctx, "", 10)
	if err != nil {
		return err
	}
	if len(notes) > 0 || m.p.Backlog() > 0 {
		return fmt.Errorf("left to do: %v in the table, %d in the queue", notes, m.p.Backlog())
	}
	return nil
}
