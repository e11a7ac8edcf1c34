package oracle

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/webindexer/indexer/txn"
)

// rowLocks are advisory locks of rows, in memory only: after a change of the oracle all
// are free, and some work may be begun twice. The paper's lock service keeps no state
// either (section 2.4).
type rowLocks struct {
	mu   sync.Mutex
	held map[string]rowLock
}

type rowLock struct {
	token string
	until time.Time
}

const (
	// lockTTL is the age at which a lock expires although its holder is alive and has
	// not released it: a release may be lost. An observer's run that takes longer may
	// be begun twice.
	lockTTL = 30 * time.Second
	// lockSweep is how often locks of dead processes are looked for.
	lockSweep = time.Second
	// maxLocks bounds the memory. Beyond it, locks are granted and not recorded.
	maxLocks = 1 << 20
)

// try locks each of the rows that is free.
func (l *rowLocks) try(token string, rows []string, now time.Time) []bool {
	got := make([]bool, len(rows))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[string]rowLock)
	}
	for i, row := range rows {
		if h, ok := l.held[row]; ok && now.Before(h.until) {
			continue
		}
		got[i] = true
		if len(l.held) < maxLocks {
			l.held[row] = rowLock{token, now.Add(lockTTL)}
		}
	}
	return got
}

func (l *rowLocks) release(token string, rows []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		if l.held[row].token == token {
			delete(l.held, row)
		}
	}
}

func (l *rowLocks) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = nil
}

func (l *rowLocks) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held)
}

// dropDead releases what dead processes hold, and what has expired. It asks without the
// mutex: an answer may take a while.
func (l *rowLocks) dropDead(ctx context.Context, lives txn.Liveness) {
	dead := l.holders()
	for token := range dead {
		alive, err := lives.Alive(ctx, token)
		dead[token] = err == nil && !alive
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.held, func(_ string, h rowLock) bool { return dead[h.token] || !now.Before(h.until) })
}

// holders returns the processes that hold locks, each with false.
func (l *rowLocks) holders() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	tokens := make(map[string]bool)
	for _, h := range l.held {
		tokens[h.token] = false
	}
	return tokens
}
