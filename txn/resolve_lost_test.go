package txn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
)

// losingTable is a table that loses the answers of guarded writes.
type losingTable struct {
	store.Table
	answers int  // that will be lost; negative: all
	happens bool // what a lost answer was about
	err     error
}

func (l *losingTable) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if l.answers == 0 || m.Require == nil && m.Absent == nil {
		return l.Table.Mutate(ctx, m)
	}
	l.answers--
	if l.happens {
		if _, err := l.Table.Mutate(ctx, m); err != nil {
			return store.Result{}, err
		}
	}
	return store.Result{}, l.err
}

// TestResolverLosesAnswers: the connection breaks while a reader resolves the locks of a dead
// process, as when the server of the table is restarted. The reader tries again.
func TestResolverLosesAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		dies, want string
		answers    int
		happens    bool
		err, fails error
	}{
		"forward, happened":     {dies: stepCommitSecondary, want: "new", answers: 3, happens: true, err: store.ErrUnavailable},
		"forward, not happened": {dies: stepCommitSecondary, want: "new", answers: 3, err: store.ErrUnavailable},
		"back, happened":        {dies: stepCommitTS, answers: 3, happens: true, err: store.ErrUnavailable},
		"back, not happened":    {dies: stepCommitTS, answers: 3, err: store.ErrUnavailable},
		"forward, for ever":     {dies: stepCommitSecondary, answers: -1, err: store.ErrUnavailable, fails: store.ErrUnavailable},
		"back, for ever":        {dies: stepCommitTS, answers: -1, err: store.ErrUnavailable, fails: store.ErrUnavailable},
		"tried long enough":     {dies: stepCommitSecondary, answers: 1, err: errors.Join(store.ErrNotDone, store.ErrUnavailable), fails: store.ErrNotDone},
		"another error":         {dies: stepCommitSecondary, answers: 1, err: store.ErrBroken, fails: store.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := openMem(t, Groups("app"))
				defer closeTable(t, inner)
				owner := open(t, inner, Options{Mode: TwoPhase, Step: func(name string, _ Cell) error {
					if name == c.dies {
						return ErrCrash
					}
					return nil
				}})
				tx := mustBegin(t, owner)
				tx.Set("primary", app("c"), []byte("new"))
				tx.Set("other", app("c"), []byte("new"))
				if _, err := tx.Commit(t.Context()); !errors.Is(err, ErrCrash) {
					t.Fatalf("commit: %v, want a crash", err)
				}
				owner.Close()
				table := &losingTable{Table: inner, happens: c.happens, err: c.err}
				db := open(t, table, Options{Mode: TwoPhase})
				defer db.Close()
				reader := mustBegin(t, db)
				defer reader.Rollback()
				table.answers = c.answers
				for _, row := range []string{"other", "primary"} {
					v, err := reader.Get(t.Context(), row, app("c"))
					if !errors.Is(err, c.fails) || string(v.Data) != c.want {
						t.Errorf("%s holds %q, %v", row, v.Data, err)
					}
					if c.fails != nil {
						return
					}
				}
				if table.answers != 0 {
					t.Errorf("%d answers were not lost", table.answers)
				}
			})
		})
	}
}
