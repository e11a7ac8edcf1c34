package txn

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
)

// The safe point of a table that several processes share.
//
// Each DB publishes a bound in the table, in the row of its process: none of its readers
// reads below it. A collector takes the least bound of all live processes, and raises the
// safe point up to it.
//
// # Why no reader reads below the safe point
//
// A reader that Begin makes: its process has already published a bound, and raises it
// only as far as gcreaders.go allows: at most to the timestamps of its open readers, and
// below those of later ones. A process that joins takes its first timestamp after it has
// published; a collector that missed it had taken its own last timestamp before, so the
// safe point is below.
//
// The same holds for a reader of the past (At) at or above the greatest bound that its DB
// ever published. A reader below that bound may be too late. It publishes its own
// timestamp, and then reads the safe point; a collector publishes the safe point, and then
// reads the bounds again. So at least one of the two sees the other: the reader fails, or
// the collector collects nothing until the reader has ended.
//
// A pin must remain readable after the process that made it has ended. So it keeps a collector from
// publishing: a process stores the pin, writes a timestamp next to the safe point (pinnedColumn),
// and then reads the safe point. A collector reads that timestamp first and then the pins, and
// publishes a safe point only if no later timestamp is there.
//
// A process that others consider dead has lost its bound, although it may only have been
// suspended. So it checks its token (Liveness.Valid) after each read, before the result is
// used, and between its last prewrite and its commit point. Until the first check that
// fails, others respect its bound. After the second one all its locks are in the table,
// where step 3 of a collection finds them. It checks a third time after its commit point, and
// leaves the other cells to the processes that consider it dead (commit.go, finish).
type published struct {
	column []byte // unique, because a process may have several DBs

	mu     sync.Mutex // one publication at a time
	n      uint64     // counts them
	cancel context.CancelFunc
	work   sync.WaitGroup
}

const readerPrefix = "reader/"

// publishEvery is how often a DB publishes its bound. The safe point lags by as much.
const publishEvery = time.Second

// errReadersBelow is a reason to collect nothing now.
var errReadersBelow = fmt.Errorf("%w: a reader of another process has just begun below the safe point", errLocksHeld)

// errPinned is another one.
var errPinned = fmt.Errorf("%w: another process has just made a pin", errLocksHeld)

// pinnedColumn is in the row of the safe point. Its timestamp is that of the last pin that a process
// made while others had the table open.
var pinnedColumn = []byte("pinned")

// joinReaders publishes a first bound, and keeps publishing until leaveReaders.
func (db *DB) joinReaders(ctx context.Context) error {
	b := &db.published
	b.column = []byte(rand.Text()[:10])
	publishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel = cancel                                                    // if anything fails from here on, leaveReaders withdraws the bound
	if err := db.putBound(ctx, func() uint64 { return 1 }); err != nil { // below everything
		return err
	}
	if err := db.publishReaders(ctx); err != nil {
		return err
	}
	b.work.Go(func() {
		for sleep.For(publishing, publishEvery) == nil {
			_ = db.publishReaders(publishing) // the last bound holds until the next attempt
			_ = db.learnSafePoint(publishing) // readers of the past ask the table in any case
		}
	})
	return nil
}

// leaveReaders withdraws the bound. If that fails, the bound expires with the token of
// the process.
func (db *DB) leaveReaders() error {
	b := &db.published
	if b.cancel == nil {
		return nil
	}
	b.cancel()
	b.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), finishTimeout)
	defer cancel()
	if err := applyRow(ctx, db.table, db.boundRow(), deleteMeta(b.column)); err != nil {
		return fmt.Errorf("txn: withdraw the bound of readers: %w", err)
	}
	return nil
}

// OfProcess reports whether a cell describes a process that has the table open, rather
// than data. A copy of the table must leave it out.
func OfProcess(c store.Cell) bool {
	return c.Group == metaGroup && strings.HasPrefix(string(c.Row), readerPrefix)
}

func (db *DB) boundRow() []byte { return []byte(readerPrefix + db.liveness.Token()) }

// publishReaders publishes what the open readers allow.
func (db *DB) publishReaders(ctx context.Context) error {
	last, err := db.Now(ctx)
	if err != nil {
		return err
	}
	return db.putBound(ctx, func() uint64 { return db.point.bound(last) })
}

// learnSafePoint raises the safe point in memory to that in the table, which another process may
// have raised.
func (db *DB) learnSafePoint(ctx context.Context) error {
	ts, err := readSafePoint(ctx, db.table)
	if err != nil {
		return err
	}
	p := db.point
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ts = max(p.ts, ts)
	return nil
}

// putBound publishes a bound. It asks for the bound when no other publication is under way: a bound
// from before a reader registered must not replace the one that the reader has published.
func (db *DB) putBound(ctx context.Context, bound func() uint64) error {
	b := &db.published
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	if err := applyRow(ctx, db.table, db.boundRow(), putNumber(b.column, b.n, bound())); err != nil {
		return fmt.Errorf("txn: publish the bound of readers: %w", err)
	}
	return nil
}

// bound is the least timestamp that is being read, or will be read by readers that do
// not publish first (register). From now on the timestamps of such readers are at or
// above it.
func (p *safePoint) bound(last uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	least := p.readers.oldest(last)
	p.asks = max(p.asks, least)
	return least
}

// othersBound is the least bound of other DBs, at most least. It removes those of dead
// processes.
func (db *DB) othersBound(ctx context.Context, least uint64) (uint64, error) {
	bounds := make(map[string]uint64)
	r := store.Range{Group: metaGroup, Start: []byte(readerPrefix), End: []byte("reader0"), Newest: 1}
	_, err := db.table.Scan(ctx, r, func(c store.Cell) error {
		if len(c.Value) != 8 {
			return fmt.Errorf("the bound of readers in row %q has %d bytes, not 8: %w", c.Row, len(c.Value), store.ErrCorrupt)
		}
		token := strings.TrimPrefix(string(c.Row), readerPrefix)
		if token == db.liveness.Token() && string(c.Column) == string(db.published.column) {
			return nil
		}
		bound := binary.BigEndian.Uint64(c.Value)
		if old, ok := bounds[token]; !ok || bound < old {
			bounds[token] = bound
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("txn: read the bounds of readers: %w", err)
	}
	for token, bound := range bounds {
		if bound >= least {
			continue
		}
		alive, err := db.liveness.Alive(ctx, token)
		if err == nil && !alive {
			if err := db.removeBounds(ctx, token); err != nil {
				return 0, err
			}
			continue
		}
		least = bound
	}
	return least, nil
}

func (db *DB) removeBounds(ctx context.Context, token string) error {
	row := []byte(readerPrefix + token)
	cells, err := db.table.Read(ctx, row, store.Selector{Group: metaGroup, Prefix: true, Newest: 1})
	if err != nil || len(cells) == 0 {
		return err
	}
	var ms []store.Mutation
	for _, c := range cells {
		ms = append(ms, deleteMeta(c.Column))
	}
	return applyRow(ctx, db.table, row, ms...)
}

// advanceShared is advance for a table that several processes share.
func (db *DB) advanceShared(ctx context.Context, now time.Time) (uint64, error) {
	p := db.point
	last, err := db.Now(ctx)
	if err != nil {
		return 0, err
	}
	pinned, err := readNumber(ctx, db.table, gcRow, pinnedColumn, "when the last pin was made")
	if err != nil {
		return 0, err
	}
	least, err := db.allowed(ctx, p.bound(last), now)
	if err != nil {
		return 0, err
	}
	stored, err := readSafePoint(ctx, db.table)
	if err != nil {
		return 0, err
	}
	ts := max(stored, least)
	if err := db.publish(ctx, ts, store.Selector{Group: metaGroup, Column: pinnedColumn, MinTS: pinned + 1}); err != nil {
		return 0, err
	}
	p.mu.Lock()
	p.ts = max(p.ts, ts)
	p.mu.Unlock()
	// Check again after publishing: see above. Pins and times below what was stored already, such as
	// those of a pin that came too late, or of a longer history than before, cannot be read.
	if least, err = db.othersBound(ctx, p.bound(last)); err != nil {
		return 0, err
	}
	if least < ts {
		return 0, errReadersBelow
	}
	return ts, nil
}

// allowed is the safe point that other processes, pins and the history allow, at most least.
// It reads bounds before pins, because a process that makes a pin holds a bound until the
// pin is stored.
func (db *DB) allowed(ctx context.Context, least uint64, now time.Time) (uint64, error) {
	least, err := db.othersBound(ctx, least)
	if err != nil {
		return 0, err
	}
	p := db.point
	if err := errors.Join(p.pins.load(ctx, db.table), p.history.load(ctx, db.table)); err != nil {
		return 0, err
	}
	return p.history.oldest(p.pins.oldest(least, now), now), nil
}

// sharedReader reads for a transaction of a table that several processes share.
type sharedReader struct{ t *Txn }

func (r sharedReader) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := r.t.admit(ctx); err != nil {
		return nil, err
	}
	cells, err := r.t.instant().Read(ctx, row, sel...)
	if err != nil {
		return nil, err
	}
	return cells, r.t.waitUntilAlive(ctx)
}

func (r sharedReader) Scan(ctx context.Context, g store.Range, fn func(store.Cell) error) ([]byte, error) {
	if err := r.t.admit(ctx); err != nil {
		return nil, err
	}
	next, err := r.t.instant().Scan(ctx, g, fn)
	if err != nil {
		return next, err
	}
	return next, r.t.waitUntilAlive(ctx)
}

// admit makes sure, before the first read of a reader of the past, that it is not too late.
func (t *Txn) admit(ctx context.Context) error {
	if !t.hold.asks {
		return nil
	}
	if err := t.db.publishReaders(ctx); err != nil { // t holds its timestamp
		return err
	}
	ts, err := readSafePoint(ctx, t.db.table)
	if err != nil {
		return err
	}
	if t.start < ts {
		t.barred = &SafePointError{TS: t.start, SafePoint: ts}
		return t.barred
	}
	t.hold.asks = false
	return nil
}

// checkAlive returns an error if other processes may consider this one dead, and so ignore
// its locks and the versions that it reads. The transaction must then start over.
func (db *DB) checkAlive() error {
	if db.shared == nil {
		return nil
	}
	if err := db.liveness.Valid(); err != nil {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return nil
}

// A transaction made by At waits for aliveWithin, and asks every aliveEvery.
const (
	aliveWithin = 30 * time.Second
	aliveEvery  = 50 * time.Millisecond
)

// waitUntilAlive is checkAlive after a read. A transaction that only reads may belong to a
// verification that takes hours and that nothing starts over, so it waits while this process may
// still become valid again. If it does, no other process has found it dead before, so none has
// collected what the transaction has read.
func (t *Txn) waitUntilAlive(ctx context.Context) error {
	err := t.db.checkAlive()
	for begun := time.Now(); err != nil && t.readOnly && time.Since(begun) < aliveWithin; err = t.db.checkAlive() {
		if t.db.FoundDead(ctx) != nil {
			return err
		}
		if err := sleep.For(ctx, aliveEvery); err != nil {
			return err
		}
	}
	return err
}

// FoundDead returns an error that matches ErrDead if other processes have found this one dead.
// A process that is merely not valid may become valid again: the signs of life are in the
// table, so while the table is out of reach, no process can find another one dead.
func (db *DB) FoundDead(ctx context.Context) error {
	if db.shared == nil {
		return nil
	}
	why := db.liveness.Valid()
	if why == nil {
		return nil
	}
	if alive, err := db.liveness.Alive(ctx, db.liveness.Token()); err != nil || alive {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDead, why)
}
