package loader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// silentTable is a table whose server does not answer for a while.
type silentTable struct {
	store.Table
	until time.Time
	lost  bool // it does what was asked, and its answer is lost
}

func (a *silentTable) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if time.Now().After(a.until) {
		return a.Table.Mutate(ctx, m)
	}
	if a.lost {
		_, _ = a.Table.Mutate(ctx, m)
	}
	return store.Result{}, store.ErrUnavailable
}

func (a *silentTable) Apply(ctx context.Context, list []store.RowMutation) error {
	if time.Now().After(a.until) {
		return a.Table.Apply(ctx, list)
	}
	return store.ErrUnavailable
}

type admitAll struct{}

func (admitAll) Admit(context.Context) error { return nil }
func (admitAll) Loading() func()             { return func() {} }

// silentOracle admits when an oracle answers again.
type silentOracle struct {
	admitAll
	until time.Time
}

func (o silentOracle) Admit(context.Context) error {
	if time.Now().After(o.until) {
		return nil
	}
	return txn.ErrNoTimestamps
}

// TestServerAway: a load waits for a server that does not answer, but not for ever, and not
// longer than its caller.
func TestServerAway(t *testing.T) {
	for name, tc := range map[string]struct {
		away  time.Duration
		lost  bool
		mute  time.Duration // of the oracle
		limit time.Duration // of the caller
		want  error
		least time.Duration
	}{
		"answers":           {},
		"away":              {away: time.Minute, least: time.Minute},
		"answers are lost":  {away: time.Minute, lost: true, least: time.Minute},
		"no oracle":         {mute: time.Minute, least: time.Minute},
		"away for too long": {away: time.Hour, want: store.ErrUnavailable, least: 10 * time.Minute},
		"caller gives up":   {away: time.Hour, limit: time.Second, want: context.DeadlineExceeded, least: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				under, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{TwoPhaseOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				table := &silentTable{Table: under, lost: tc.lost}
				db, err := txn.Open(t.Context(), table, txn.Options{})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				table.until = began.Add(tc.away)
				ctx := t.Context()
				if tc.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.limit)
					defer cancel()
				}
				l := loader.New(db, silentOracle{until: began.Add(tc.mute)}, func(string) {})
				if _, err := l.Load(ctx, somePage("alpha", noon)); !errors.Is(err, tc.want) {
					t.Errorf("%v, want %v", err, tc.want)
				}
				if took := time.Since(began); took < tc.least || took > tc.least+time.Minute {
					t.Errorf("it took %v, want %v", took, tc.least)
				}
				table.until = time.Time{}
				if effect, err := l.Load(t.Context(), somePage("alpha", noon)); err != nil || tc.want == nil && effect != loader.Late {
					t.Errorf("loaded again: %v, %v", effect, err)
				}
				if err := errors.Join(db.Close(), under.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// fullTable is a table of an engine whose disk becomes full during a commit.
type fullTable struct {
	whole
	broken bool
}

type whole interface {
	store.Table
	store.Snapshotter
	store.Committer
}

func (f *fullTable) Commit(ctx context.Context, rows []store.RowMutation) (uint64, store.Result, error) {
	if !f.broken {
		return f.whole.Commit(ctx, rows)
	}
	return 0, store.Result{}, fmt.Errorf("%w: %w", store.ErrBroken, store.ErrNoSpace)
}

// TestDiskFull: whether the write that filled the disk has happened is unknown, and waiting
// would not show it.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		under, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table := &fullTable{whole: under.(whole)}
		db, err := txn.Open(t.Context(), table, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table.broken = true
		began := time.Now()
		_, err = loader.New(db, admitAll{}, func(string) {}).Load(t.Context(), somePage("alpha", noon))
		if took := time.Since(began); !errors.Is(err, txn.ErrUnknown) || !errors.Is(err, store.ErrNoSpace) || took > 0 {
			t.Errorf("after %v: %v", took, err)
		}
		table.broken = false
		if err := errors.Join(db.Close(), under.Close()); err != nil {
			t.Error(err)
		}
	})
}
