package oracle

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Tokens are liveness tokens in the table, for deployments without etcd. A token is a row
// with a cell whose timestamp counts the signs of life of its process.
//
// No clocks are compared. A process is dead when another one has seen the same count for a
// whole time to live, by its own clock, and has then removed the row under the guard that
// the count is still the same. The owner counts under the guard that its last count is
// there. So one of the two is refused, and a process that was removed never counts again,
// even if it was only stopped for a while.
//
// Only the time in which the watching process could itself count is part of a time to live.
// Without this rule, the first process to reach a restarted database found all others dead,
// because their counts were as old as its own.
//
// The price is one small write to the table per process and quarter of the time to live, and
// that a process which asks about a token for the first time has to watch it for the
// whole time to live.
type Tokens struct {
	table store.Table
	token string

	valid  Deadline
	lost   chan struct{} // closed when the row was removed
	cancel context.CancelFunc
	work   sync.WaitGroup
	seen   sightings

	mu   sync.Mutex
	self Process // as the next sign of life publishes it
}

// processPrefix begins the rows of tokens.
const processPrefix = "process/"

func processRow(token string) []byte { return []byte(processPrefix + token) }

var beatColumn = []byte("beat")

// NewToken names this process: readable for people, and different from all others.
func NewToken() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:10])
}

// Join makes this process known in a table, and shows signs of life until Leave.
func Join(ctx context.Context, table store.Table) (*Tokens, error) {
	t := &Tokens{table: table, token: NewToken(), lost: make(chan struct{})}
	t.self = NewProcess(t.token)
	sent := time.Now()
	if err := t.count(ctx, 1); err != nil {
		return nil, fmt.Errorf("oracle: make this process known in the table: %w", err)
	}
	t.valid.Extend(sent, TTL)
	t.seen.counted()
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.work.Go(func() { t.beat(ctx) })
	return t, nil
}

// Token implements txn.Liveness.
func (t *Tokens) Token() string { return t.token }

// Valid implements txn.Liveness.
func (t *Tokens) Valid() error {
	if isLost(t) || t.valid.Passed() {
		return ErrLapsed
	}
	return nil
}

// TableDomain is the domain of tokens in the table.
const TableDomain = "the table"

// Domain implements Member.
func (t *Tokens) Domain() string { return TableDomain }

// Describe implements Member. The next sign of life publishes it.
func (t *Tokens) Describe(_ context.Context, d Description) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.self.Description = d.Bounded()
	return nil
}

// Lost implements Member.
func (t *Tokens) Lost() <-chan struct{} { return t.lost }

// beat counts until the context ends.
//
// If the answer of a count is lost, others may have seen it since its first attempt, and wait for
// a time to live from then on. So that attempt, and not the one that finds the count in the table,
// decides how long it counts here.
func (t *Tokens) beat(ctx context.Context) {
	tick := time.NewTicker(TTL / 4)
	defer tick.Stop()
	var sent time.Time // the first attempt at this count; zero before
	for n := uint64(2); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if sent.IsZero() {
			sent = time.Now()
		}
		err := t.count(ctx, n)
		switch {
		case err == nil:
			t.valid.Extend(sent, TTL)
			t.seen.counted()
			n, sent = n+1, time.Time{}
		case errors.Is(err, errRemoved):
			close(t.lost)
			return
		}
		// Any other error is the table's. The same count is sent again, until others
		// remove the row; Valid fails long before.
	}
}

var errRemoved = errors.New("oracle: another process has found this one dead")

// count writes a count. It may be called again with the same one after an error.
func (t *Tokens) count(ctx context.Context, n uint64) error {
	ctx, cancel := context.WithTimeout(ctx, TTL)
	defer cancel()
	t.mu.Lock()
	self := t.self
	t.mu.Unlock()
	self.Beat = time.Now().UTC()
	value, err := json.Marshal(self)
	if err != nil {
		return err
	}
	m := store.RowMutation{Row: processRow(t.token), Mutations: []store.Mutation{
		{Op: store.Put, Group: txn.MetaGroup, Column: beatColumn, TS: n, Value: value},
	}}
	if n > 1 {
		m.Require = &store.CellRef{Group: txn.MetaGroup, Column: beatColumn, TS: n - 1}
	}
	res, err := t.table.Mutate(ctx, m)
	if err == nil && res.Outcome == store.Applied {
		return nil
	}
	// Unknown, or refused because an earlier attempt was applied after all.
	cells, rerr := t.table.Read(ctx, m.Row, newest(beatColumn))
	switch {
	case rerr != nil:
		return errors.Join(err, rerr)
	case len(cells) > 0 && cells[0].TS == n:
		return nil
	case err == nil:
		return errRemoved
	case len(cells) == 0 && n > 1:
		return errors.Join(errRemoved, err)
	}
	return err
}

// newest selects the newest cell of a column of the protocol's own group.
func newest(column []byte) store.Selector {
	return store.Selector{Group: txn.MetaGroup, Column: column, Newest: 1}
}

// Alive implements txn.Liveness.
func (t *Tokens) Alive(ctx context.Context, token string) (bool, error) {
	if token == t.token {
		return !isLost(t), nil
	}
	if alive, known := t.seen.lately(token); known {
		return alive, nil
	}
	row := processRow(token)
	asked := time.Now()
	cells, err := t.table.Read(ctx, row, newest(beatColumn))
	if err != nil {
		return true, fmt.Errorf("oracle: look for process %s: %w", token, err)
	}
	if len(cells) == 0 {
		t.seen.died(token)
		return false, nil
	}
	beat := cells[0].TS
	if !t.seen.still(token, beat, asked) {
		return true, nil
	}
	res, err := t.table.Mutate(ctx, store.RowMutation{
		Row:       row,
		Require:   &store.CellRef{Group: txn.MetaGroup, Column: beatColumn, TS: beat},
		Mutations: []store.Mutation{{Op: store.DeleteUpTo, Group: txn.MetaGroup, Column: beatColumn, TS: store.MaxTS}},
	})
	if err != nil {
		return true, fmt.Errorf("oracle: remove the dead process %s: %w", token, err)
	}
	if res.Outcome == store.Applied {
		t.seen.died(token)
		return false, nil
	}
	return true, nil // it has counted, or is removed already: the next call sees which
}

// Leave implements Member. It is called once.
func (t *Tokens) Leave(ctx context.Context) error {
	t.cancel()
	t.work.Wait()
	if !isLost(t) {
		close(t.lost)
	}
	err := t.table.Apply(ctx, []store.RowMutation{{
		Row:       processRow(t.token),
		Mutations: []store.Mutation{{Op: store.DeleteUpTo, Group: txn.MetaGroup, Column: beatColumn, TS: store.MaxTS}},
	}})
	if err != nil {
		return fmt.Errorf("oracle: leave the table (others notice after %v): %w", TTL, err)
	}
	return nil
}

// sightings remember what was seen of other processes.
type sightings struct {
	mu   sync.Mutex
	list map[string]*sighting
	// last is when this process counted itself for the last time, and steady since when it has
	// done so without a gap.
	last, steady time.Time
}

type sighting struct {
	beat  uint64
	since time.Time // when beat was first seen
	asked time.Time // when the table was last asked
	dead  bool
}

// maxSightings bounds the memory of dead processes; live ones are few.
const maxSightings = 4096

// lately answers without asking the table: a process that died stays dead, and one that
// was alive a moment ago is not asked for again.
func (s *sightings) lately(token string) (alive, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.list[token]
	switch {
	case g == nil:
		return false, false
	case g.dead:
		return false, true
	}
	return true, time.Since(g.asked) < TTL/16
}

// counted notes that this process has counted itself. Two counts are a quarter of the time to
// live apart; if it is more than half, the table may have been out of reach.
func (s *sightings) counted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.isGap(now) {
		s.steady = now
	}
	s.last = now
}

func (s *sightings) isGap(now time.Time) bool { return now.Sub(s.last) > TTL/2 }

// still notes a count, and reports whether it has been the same for a time to live in which
// this process has counted itself.
func (s *sightings) still(token string, beat uint64, asked time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.at(token)
	if g.beat != beat {
		g.beat, g.since = beat, time.Now() // later than the read: it may have been older
	}
	g.asked = asked
	now := time.Now()
	return !s.isGap(now) && now.Sub(g.since) >= TTL && now.Sub(s.steady) >= TTL
}

func (s *sightings) died(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at(token).dead = true
}

// at returns the sighting of a token; mu is held. Forgetting one costs another look.
func (s *sightings) at(token string) *sighting {
	g := s.list[token]
	if g == nil {
		if s.list == nil || len(s.list) >= maxSightings {
			s.list = make(map[string]*sighting)
		}
		g = new(sighting)
		s.list[token] = g
	}
	return g
}
