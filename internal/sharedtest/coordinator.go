// Package sharedtest lets one test use a table as several processes would. A Coordinator
// connects them in memory; a test can silence a process, declare it dead, or stop it at any
// call of its table (Interruptions).
package sharedtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
)

// Coordinator coordinates processes in memory, in the simplest way that keeps the promises of
// txn.Coordination.
type Coordinator struct {
	last   atomic.Uint64
	mu     sync.Mutex
	named  int
	dead   map[string]bool
	silent map[string]bool   // cannot show signs of life, and were not found dead yet
	down   error             // of Alive
	locks  map[string]string // token by row
	met    int
}

// New returns a coordinator without processes.
func New() *Coordinator {
	return &Coordinator{dead: make(map[string]bool), silent: make(map[string]bool), locks: make(map[string]string)}
}

// Process is one process. It implements txn.Timestamps, txn.Liveness and txn.RowLocks.
type Process struct {
	c     *Coordinator
	token string
}

// Join adds a process.
func (c *Coordinator) Join() *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named++
	return &Process{c, fmt.Sprint("process ", c.named)}
}

// Met returns how often a process wanted a row that another one had locked.
func (c *Coordinator) Met() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.met
}

// Locked returns how many rows are locked.
func (c *Coordinator) Locked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.locks)
}

// SetDown makes Alive fail in all processes, or answer again if err is nil.
func (c *Coordinator) SetDown(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = err
}

// Die makes all others consider the process dead.
func (p *Process) Die() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.c.dead[p.token] = true
	maps.DeleteFunc(p.c.locks, func(_, token string) bool { return token == p.token })
}

// SetSilent keeps the process from showing signs of life, or lets it show them again. No
// other process considers it dead meanwhile.
func (p *Process) SetSilent(silent bool) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.c.silent[p.token] = silent
}

// Next implements txn.Timestamps.
func (p *Process) Next(context.Context) (uint64, error) { return p.c.last.Add(1), nil }

// Last implements txn.Timestamps.
func (p *Process) Last(context.Context) (uint64, error) { return p.c.last.Load(), nil }

// Token implements txn.Liveness.
func (p *Process) Token() string { return p.token }

// ErrDead says why a process that died is not valid.
var ErrDead = errors.New("considered dead")

// ErrSilent says why a process that shows no signs of life is not valid.
var ErrSilent = errors.New("no sign of life")

// Valid implements txn.Liveness.
func (p *Process) Valid() error {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.c.dead[p.token] {
		return ErrDead
	}
	if p.c.silent[p.token] {
		return ErrSilent
	}
	return nil
}

// Alive implements txn.Liveness.
func (p *Process) Alive(_ context.Context, token string) (bool, error) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	return !p.c.dead[token], p.c.down
}

// TryLock implements txn.RowLocks.
func (p *Process) TryLock(_ context.Context, rows []string) ([]bool, error) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	got := make([]bool, len(rows))
	for i, row := range rows {
		owner, taken := p.c.locks[row]
		if got[i] = !taken; got[i] {
			p.c.locks[row] = p.token
		} else if owner != p.token {
			p.c.met++
		}
	}
	return got, nil
}

// Unlock implements txn.RowLocks.
func (p *Process) Unlock(_ context.Context, rows []string) error {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	for _, row := range rows {
		if p.c.locks[row] == p.token {
			delete(p.c.locks, row)
		}
	}
	return nil
}
