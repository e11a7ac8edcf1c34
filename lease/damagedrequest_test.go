package lease

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// damage overwrites all cells of a row whose columns end with a name.
func (f *fleet) damage(row string, c txn.Column) {
	f.t.Helper()
	var list []store.Mutation
	_, err := f.table.Scan(f.t.Context(), store.Range{Group: Group, Start: []byte(row), End: []byte(row + "\x00")}, func(cell store.Cell) error {
		if strings.HasSuffix(string(cell.Column), c.Name) {
			list = append(list, store.Mutation{Group: Group, Column: []byte(string(cell.Column)), TS: cell.TS, Value: []byte("?")})
		}
		return nil
	})
	if err == nil && len(list) > 0 {
		_, err = f.table.Mutate(f.t.Context(), store.RowMutation{Row: []byte(row), Mutations: list})
	}
	if err != nil || len(list) == 0 {
		f.t.Fatalf("%d cells are damaged: %v", len(list), err)
	}
}

// TestDamagedRequest: a request or a report that cannot be read is named, and the tasks of other requests
// are done.
func TestDamagedRequest(t *testing.T) {
	for name, damage := range map[string]func(f *fleet, row string, set func(c txn.Column)){
		"request":               func(_ *fleet, _ string, set func(c txn.Column)) { set(askedColumn) },
		"report":                func(_ *fleet, _ string, set func(c txn.Column)) { set(reportColumn) },
		"record of the request": func(f *fleet, row string, _ func(c txn.Column)) { f.damage(row, askedColumn) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			asker := f.join(Options{})
			asker.request(t, "x", "0") // the first that the holder reads
			damage(f, requestPrefix+"0", func(c txn.Column) {
				_, err := asker.db.Run(t.Context(), func(tx *txn.Txn) error {
					tx.Set(requestPrefix+"0", c, []byte("?"))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			})
			h := f.join(Options{Wants: []Want{{Name: "x", Tasks: map[string]Task{"work": func(context.Context, func(int)) (any, error) { return 7, nil }}}}})
			named := make(chan error, 1)
			var once sync.Once
			h.opts.Failed = func(err error) { once.Do(func() { named <- err }) }
			h.Start(t.Context())
			waitFor(t, "x", h)
			if got, err := asker.ask(t.Context(), Question{}); err != nil || got != "7" {
				t.Errorf("%s, %v", got, err)
			}
			if err := <-named; !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "request/0") {
				t.Errorf("the damage is not named: %v", err)
			}
			f.stop(h, asker)
		})
	}
}
