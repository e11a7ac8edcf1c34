package verify

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// compareAnswers finds cells that an observer has not seen (invariant 5). No notification
// was waiting when the snapshot was taken. So if a cell was written after the last
// acknowledged run on it, and the writer did not do the observer's work itself, then the
// observer has missed it, or gave up: see the dead letters.
func (v *verifier) compareAnswers(ctx context.Context) error {
	registry, err := observers.Options{}.Registry() // only for names and columns; nothing runs
	if err != nil {
		return err
	}
	for _, o := range registry.List() {
		if o.Weak {
			continue
		}
		if err := v.compareAnswersOf(ctx, &o); err != nil {
			return fmt.Errorf("observer %s: %w", o.Name, err)
		}
	}
	return nil
}

func (v *verifier) compareAnswersOf(ctx context.Context, o *notify.Observer) error {
	return v.scan(ctx, o.Watches.Group, func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name != o.Watches.Name {
				continue
			}
			v.rep.Checked["acknowledgements"]++
			ran, err := v.tx.Acknowledged(ctx, txn.Cell{Row: row, Column: o.Watches}, o.Name)
			if err != nil {
				return err
			}
			if ran > c.TS {
				continue
			}
			done, err := observers.DoneAtOnce(ctx, v.tx, o.Name, row, c.TS)
			if err != nil {
				return err
			}
			if !done {
				v.rep.add(o.Watches.Group, readableURL(row), c.Name+" (seen by "+o.Name+")", fmt.Sprint(ran), fmt.Sprintf("after %d", c.TS))
			}
		}
		return nil
	})
}

// readableURL formats a URL row for people.
func readableURL(row string) string {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return fmt.Sprintf("%q", row)
	}
	return string(u)
}
