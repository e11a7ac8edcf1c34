// Package sharedtest lets one test use a table as several processes would. An Office
// coordinates them in memory (txn.Coordination); a test can cut off a process or declare it
// dead.
package sharedtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/txn"
)

// Office coordinates processes in memory: the plainest thing that keeps the promises of
// txn.Coordination.
type Office struct {
	last  atomic.Uint64
	mu    sync.Mutex
	named int
	dead  map[string]bool
	cut   map[string]bool   // cannot show signs of life, and were not found dead yet
	locks map[string]string // token by row
	met   int
}

// New returns an office without processes.
func New() *Office {
	return &Office{dead: make(map[string]bool), cut: make(map[string]bool), locks: make(map[string]string)}
}

// Process is the connection of one process.
type Process struct {
	office *Office
	token  string
}

// Join adds a process.
func (o *Office) Join() *Process {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.named++
	return &Process{o, fmt.Sprint("process ", o.named)}
}

// Met is how often a process wanted a row that another one had locked.
func (o *Office) Met() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.met
}

// Coordination is what txn.Options takes.
func (p *Process) Coordination() *txn.Coordination {
	return &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}
}

// Die makes all others consider the process dead.
func (p *Process) Die() {
	p.office.mu.Lock()
	defer p.office.mu.Unlock()
	p.office.dead[p.token] = true
	maps.DeleteFunc(p.office.locks, func(_, token string) bool { return token == p.token })
}

// Lapse keeps the process from showing signs of life for a while, or lets it show them again.
// No other process considers it dead meanwhile.
func (p *Process) Lapse(cut bool) {
	p.office.mu.Lock()
	defer p.office.mu.Unlock()
	p.office.cut[p.token] = cut
}

// Next implements txn.Timestamps.
func (p *Process) Next(context.Context) (uint64, error) { return p.office.last.Add(1), nil }

// Last implements txn.Timestamps.
func (p *Process) Last(context.Context) (uint64, error) { return p.office.last.Load(), nil }

// Token implements txn.Liveness.
func (p *Process) Token() string { return p.token }

// ErrDead is why a process that died is not valid.
var ErrDead = errors.New("considered dead")

// ErrLapsed is why a process that shows no signs of life is not valid.
var ErrLapsed = errors.New("no sign of life")

// Valid implements txn.Liveness.
func (p *Process) Valid() error {
	p.office.mu.Lock()
	defer p.office.mu.Unlock()
	if p.office.dead[p.token] {
		return ErrDead
	}
	if p.office.cut[p.token] {
		return ErrLapsed
	}
	return nil
}

// Alive implements txn.Liveness.
func (p *Process) Alive(_ context.Context, token string) (bool, error) {
	p.office.mu.Lock()
	defer p.office.mu.Unlock()
	return !p.office.dead[token], nil
}

// TryLock implements txn.RowLocks.
func (p *Process) TryLock(_ context.Context, rows []string) ([]bool, error) {
	p.office.mu.Lock()
	defer p.office.mu.Unlock()
	got := make([]bool, len(rows))
	for i, row := range rows {
		owner, taken := p.office.locks[row]
		if got[i] = !taken; got[i] {
			p.office.locks[row] = p.token
		} else if owner != p.token {
			p.office.met++
		}
	}
	return got, nil
}

// Unlock implements txn.RowLocks.
func (p *Process) Unlock(_ context.Context, rows []string) error {
	p.office.mu.Lock()
	defer p.office.mu.Unlock()
	for _, row := range rows {
		if p.office.locks[row] == p.token {
			delete(p.office.locks, row)
		}
	}
	return nil
}

// Locked is how many rows are locked.
func (o *Office) Locked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.locks)
}
