package txn

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
)

var clockRow = []byte("clock")

// timeline maps times of day to timestamps, so that versions can be kept for a duration.
// Timestamps are only counters, so the timeline stores a sample of both from time to
// time.
//
// A sample (t, ts) says that ts was the greatest timestamp handed out at t. The state at
// any time from t on is therefore the state at some timestamp from ts on, and it can be
// read while the safe point is at most ts. The safe point does not move until a sample is
// old enough. Samples ascend in both values: if the clock was set back, there are none
// until it has caught up, which keeps versions for longer. If it was set back by more than
// the history, the samples from the future are removed, so that it need not catch up.
//
// A sample is taken when the table is opened, and then as garbage is collected. So the writes
// of two processes can be told apart, however short-lived the processes were.
// The end of a process needs no sample: the next process finds its last state.
type timeline struct {
	keep time.Duration

	mu      sync.Mutex
	samples []timeSample
}

// timeSample holds the last timestamp at a time, in nanoseconds since 1970.
type timeSample struct {
	wall int64
	ts   uint64
}

// samplesPerHistory bounds the number of samples of one process that runs as long as the
// history. So it also bounds how much later than requested a state may be: 21 seconds for
// a history of a day. Short-lived processes at most double the number. Each sample takes
// 16 bytes of memory.
const samplesPerHistory = 4096

// load reads the samples in the table. If processes whose clocks differ took them, a
// sample may have a smaller timestamp than the one before it; it then gets that one's
// timestamp.
func (h *timeline) load(ctx context.Context, table store.Table) error {
	if h.keep <= 0 {
		return nil
	}
	cells, err := table.Read(ctx, clockRow, store.Selector{Group: metaGroup, Prefix: true})
	if err != nil {
		return fmt.Errorf("txn: read the times of timestamps: %w", err)
	}
	var samples []timeSample
	for _, c := range cells {
		if len(c.Column) != 8 {
			return fmt.Errorf("txn: a time of a timestamp has %d bytes, not 8: %w", len(c.Column), store.ErrCorrupt)
		}
		s := timeSample{int64(binary.BigEndian.Uint64(c.Column)), c.TS}
		if n := len(samples); n > 0 {
			s.ts = max(s.ts, samples[n-1].ts)
		}
		samples = append(samples, s)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.samples = samples
	return nil
}

// oldest is the least timestamp that the history needs, at most least.
func (h *timeline) oldest(least uint64, now time.Time) uint64 {
	if h.keep <= 0 {
		return least
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.firstAfter(now.Add(-h.keep))
	if i == 0 {
		return 0
	}
	return min(least, h.samples[i-1].ts)
}

// firstAfter is the index of the first sample after a time. t may be a time that nanoseconds since
// 1970 cannot express.
func (h *timeline) firstAfter(t time.Time) int {
	i, _ := slices.BinarySearchFunc(h.samples, t, func(s timeSample, t time.Time) int {
		if time.Unix(0, s.wall).After(t) {
			return 1
		}
		return -1
	})
	return i
}

// TimestampAt returns a timestamp at which the state of a time of day can be read,
// or a slightly later state: samples are 1/4096 of the history apart, and at least a
// second. It returns 0 if the history does not reach back that far; without a history it
// never does. The timestamp may be below the safe point: see Oldest.
func (db *DB) TimestampAt(ctx context.Context, t time.Time) (uint64, error) {
	h, err := db.timeline(ctx)
	if err != nil {
		return 0, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.firstAfter(t)
	switch {
	case i == 0:
		return 0, nil
	case i == len(h.samples):
		return db.Now(ctx)
	}
	return h.samples[i].ts, nil
}

// timeline returns the timeline in the table: other processes may have taken samples since this
// one read it.
func (db *DB) timeline(ctx context.Context) (*timeline, error) {
	h := &db.point.history
	if db.Shared() {
		h = &timeline{keep: h.keep}
		return h, h.load(ctx, db.table)
	}
	return h, nil
}

// History is how long versions are kept; 0 keeps them only for open readers.
func (db *DB) History() time.Duration { return db.opts.History }

// Oldest is the earliest state that can be read now: its timestamp, and the earliest
// time of day whose state can be read. The time is zero if no history records it.
func (db *DB) Oldest(ctx context.Context) (ts uint64, at time.Time, err error) {
	ts = db.SafePoint()
	if db.Shared() { // another process may have raised it
		if ts, err = readSafePoint(ctx, db.table); err != nil {
			return 0, time.Time{}, err
		}
	}
	h, err := db.timeline(ctx)
	if err != nil {
		return 0, time.Time{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, s := range h.samples {
		if s.ts >= ts {
			// The state at a time between two samples is read at the later one.
			return ts, time.Unix(0, h.samples[max(i-1, 0)].wall), nil
		}
	}
	if n := len(h.samples); n > 0 {
		return ts, time.Unix(0, h.samples[n-1].wall), nil
	}
	return ts, time.Time{}, nil
}

// noteTime takes a sample if the last one is old enough, and removes those that the
// history no longer needs. At the start of a process it always takes one.
func (db *DB) noteTime(ctx context.Context, now time.Time, begin bool) error {
	h := &db.point.history
	if h.keep <= 0 {
		return nil
	}
	last, err := db.Now(ctx) // not LastTimestamp: the sample must cover what other processes had committed by now
	if err != nil {
		return err
	}
	add, remove, kept := h.due(now, begin, last)
	if add.ts == 0 && len(remove) == 0 {
		return nil
	}
	var ms []store.Mutation
	for _, s := range remove {
		ms = append(ms, deleteMeta(s.column()))
	}
	if add.ts != 0 {
		ms = append(ms, store.Mutation{Op: store.Put, Group: metaGroup, Column: add.column(), TS: add.ts})
	}
	if err := applyRow(ctx, db.table, clockRow, ms...); err != nil {
		return fmt.Errorf("txn: note the time of a timestamp: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.samples = kept
	if add.ts != 0 {
		h.samples = append(h.samples, add)
	}
	return nil
}

// due returns the sample to add, if any, those to remove, and those that stay.
func (h *timeline) due(now time.Time, begin bool, last uint64) (add timeSample, remove, kept []timeSample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from := max(h.firstAfter(now.Add(-h.keep))-1, 0) // the last one before stays, because oldest finds it
	to := h.firstAfter(now.Add(h.keep))
	remove, kept = slices.Concat(h.samples[:from], h.samples[to:]), h.samples[from:to:to]
	apart := max(h.keep/samplesPerHistory, time.Second)
	if begin && len(kept) < 2*samplesPerHistory {
		apart = time.Nanosecond
	}
	if n := len(kept); n == 0 || now.UnixNano()-kept[n-1].wall >= apart.Nanoseconds() {
		add = timeSample{now.UnixNano(), last}
		if n > 0 {
			add.ts = max(add.ts, kept[n-1].ts)
		}
	}
	return add, remove, kept
}

func (s timeSample) column() []byte { return binary.BigEndian.AppendUint64(nil, uint64(s.wall)) }
