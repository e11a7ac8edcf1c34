package txn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
)

var (
	gcRow           = []byte("gc")
	safePointColumn = []byte("safe-point")
)

// safePoint is the timestamp below which reads are refused; gc.go describes the
// order of its use.
type safePoint struct {
	mu        sync.Mutex
	ts        uint64 // reads below it are refused
	persisted uint64 // in the table
	asks      uint64 // if other processes use the table, a reader of the past below it asks first
	readers   readers
	pins      pinSet
	history   timeline
}

// openSafePoint reads the safe point that an earlier process has published.
func openSafePoint(ctx context.Context, table store.Table, keep time.Duration) (*safePoint, error) {
	p := &safePoint{history: timeline{keep: keep}}
	var err error
	if p.ts, err = readSafePoint(ctx, table); err != nil {
		return nil, err
	}
	p.persisted = p.ts
	p.readers.floor.Store(p.ts)
	if err := p.pins.load(ctx, table); err != nil {
		return nil, err
	}
	return p, p.history.load(ctx, table)
}

// readSafePoint reads the safe point from the table; 0 if there is none.
func readSafePoint(ctx context.Context, table store.Table) (uint64, error) {
	return readNumber(ctx, table, gcRow, safePointColumn, "the safe point")
}

// SafePoint is the oldest timestamp at which the past can be read (DB.At).
func (db *DB) SafePoint() uint64 {
	db.point.mu.Lock()
	defer db.point.mu.Unlock()
	return db.point.ts
}

// Hold keeps the present state and every later one readable until release is called.
// It is for a caller that learns later at which of these timestamps it wants to read.
// It keeps no earlier state: Pin does. release may be called more than once.
func (db *DB) Hold() (release func()) {
	h := new(hold)
	db.point.readers.enter(h)
	return sync.OnceFunc(h.leave)
}

// register admits a reader of the past.
func (p *safePoint) register(h *hold, ts uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ts < p.ts {
		return &SafePointError{TS: ts, SafePoint: p.ts}
	}
	p.readers.enterAt(h, ts)
	h.asks = ts < p.asks
	return nil
}

// raise raises the safe point in memory as far as readers, pins and the history
// allow, and returns it. From here on reads below it are refused.
func (p *safePoint) raise(last func() uint64, now time.Time) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	least := p.readers.oldest(last())
	least = p.pins.oldest(least, now)
	least = p.history.oldest(least, now)
	p.ts = max(p.ts, least)
	return p.ts
}

// advance raises the safe point and publishes it in the table.
func (db *DB) advance(ctx context.Context) (uint64, error) {
	now := time.Now()
	if err := db.noteTime(ctx, now, false); err != nil {
		return 0, err
	}
	p := db.point
	if db.Shared() {
		return db.advanceShared(ctx, now)
	}
	ts := p.raise(db.LastTimestamp, now)
	return ts, db.publish(ctx, ts)
}

// publish writes the safe point into the table, unless the row has one of certain cells.
func (db *DB) publish(ctx context.Context, ts uint64, unless ...store.Selector) error {
	p := db.point
	if ts == p.persisted { // only a collection reads or writes it, and collections exclude each other
		return nil
	}
	res, err := db.table.Mutate(ctx, store.RowMutation{Row: gcRow, Absent: unless, Mutations: []store.Mutation{putNumber(safePointColumn, ts, ts)}})
	if err != nil {
		return fmt.Errorf("txn: publish the safe point: %w", err)
	}
	if res.Outcome == store.Refused {
		return errPinned
	}
	p.persisted = ts
	return nil
}
