package notify

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// leaseLog holds all leases but the one that is lost, and records what runs do under them.
type leaseLog struct {
	lost  string // its Enter fails
	freed string // its Guard fails
	calls []string
}

func (l *leaseLog) Held(string) bool { return true }

func (l *leaseLog) Enter(_ context.Context, lease string) (LeasedRun, error) {
	if lease == l.lost {
		return nil, ErrNotHeld
	}
	l.calls = append(l.calls, "enter "+lease)
	return loggedRun{l, lease}, nil
}

type loggedRun struct {
	log   *leaseLog
	lease string
}

func (r loggedRun) Guard(context.Context, *txn.Txn) error {
	if r.lease == r.log.freed {
		return ErrNotHeld
	}
	r.log.calls = append(r.log.calls, "guard "+r.lease)
	return nil
}

func (r loggedRun) Leave() { r.log.calls = append(r.log.calls, "leave "+r.lease) }

// TestRunUnderSeveralLeases: a run enters the leases of its rows once each and in order, is guarded by
// all of them, and leaves all that it has entered, also if it cannot enter one.
func TestRunUnderSeveralLeases(t *testing.T) {
	leases := []string{"a", "b", "c"}
	observer := watch(nothing)
	observer.Shards = &Shards{Leases: leases, Of: func(row string) int { return slices.Index(leases, row[:1]) }}
	for _, c := range []struct {
		name, lost, freed string
		want              []string
	}{
		{"all are held", "", "", []string{"enter a", "enter b", "enter c", "guard a", "guard b", "guard c", "leave a", "leave b", "leave c"}},
		{"the last is not held", "c", "", []string{"enter a", "enter b", "leave a", "leave b"}},
		{"the last is lost during the run", "", "c", []string{"enter a", "enter b", "enter c", "guard a", "guard b", "leave a", "leave b", "leave c"}},
	} {
		log := &leaseLog{lost: c.lost, freed: c.freed}
		p := &Pipeline{shared: &shared{leases: log}}
		var batch []*entry
		for _, row := range []string{"c1", "a1", "c2", "b1"} {
			batch = append(batch, &entry{key: key{row: row}})
		}
		run, err := p.enter(t.Context(), &observer, batch)
		if err == nil {
			err = run.Guard(t.Context(), nil)
			run.Leave()
		}
		if fails := c.lost+c.freed != ""; errors.Is(err, ErrNotHeld) != fails || !slices.Equal(log.calls, c.want) {
			t.Errorf("%s: %v, %q; want %q", c.name, err, log.calls, c.want)
		}
	}
}
