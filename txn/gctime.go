package txn

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"indexer/store"
)

var clockRow = []byte("clock")

// timeline says which timestamps belong to which time of day, so that versions can
// be kept for a duration. Timestamps only count; so now and then a sample of both
// is put down.
//
// A sample (t, ts) says that ts was the greatest timestamp handed out at t. The
// state at any time from t on is thus the state at some timestamp from ts on, and
// it can be read while the safe point is at most ts. Without a sample that is old
// enough the safe point does not move. Samples ascend in both: a clock that was
// set back gives none until it has caught up, which keeps versions for longer.
//
// One is taken when the table is opened, and then as garbage is collected: so what one
// process left and what the next one did can be told apart however short they lived.
// None is needed at the end of a process, whose last state the next one finds.
type timeline struct {
	keep time.Duration

	mu      sync.Mutex
	samples []timeSample
}

// timeSample says which timestamp was the last at a time, in nanoseconds since 1970.
type timeSample struct {
	wall int64
	ts   uint64
}

// samplesPerHistory bounds how many samples there are of one process that lives as
// long as the history, and so how much later than asked for a state may be: of a day
// that is 21 seconds. With those of processes that come and go there are at most
// twice as many. Each takes 16 bytes of memory.
const samplesPerHistory = 4096

func (h *timeline) load(ctx context.Context, table store.Table) error {
	if h.keep <= 0 {
		return nil
	}
	cells, err := table.Read(ctx, clockRow, store.Selector{Group: metaGroup, Prefix: true})
	if err != nil {
		return fmt.Errorf("txn: read the times of timestamps: %w", err)
	}
	for _, c := range cells {
		if len(c.Column) != 8 {
			return fmt.Errorf("txn: a time of a timestamp has %d bytes, not 8: %w", len(c.Column), store.ErrCorrupt)
		}
		h.samples = append(h.samples, timeSample{int64(binary.BigEndian.Uint64(c.Column)), c.TS})
	}
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

// firstAfter is the index of the first sample after a time.
func (h *timeline) firstAfter(t time.Time) int {
	i, _ := slices.BinarySearchFunc(h.samples, t.UnixNano()+1, func(s timeSample, wall int64) int {
		return int(min(max(s.wall-wall, -1), 1))
	})
	return i
}

// TimestampAt returns a timestamp at which the state of a time of day can be read,
// or somewhat later: samples are a 4096th of the history apart, and no less than a
// second. It is 0 where the history does not reach so far back; without one it does
// not reach back at all. It may be below the safe point: see Oldest. Hold keeps what
// it returns readable until it is read.
func (db *DB) TimestampAt(t time.Time) uint64 {
	h := &db.point.history
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.firstAfter(t)
	switch {
	case i == 0:
		return 0
	case i == len(h.samples):
		return db.oracle.Last()
	}
	return h.samples[i].ts
}

// History is how long versions are kept, 0 for no longer than they are read.
func (db *DB) History() time.Duration { return db.opts.History }

// Oldest is the earliest state that can be read now: its timestamp, and the earliest
// time of day whose state can be read. The time is zero where no history says it.
func (db *DB) Oldest() (ts uint64, at time.Time) {
	ts = db.SafePoint()
	h := &db.point.history
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, s := range h.samples {
		if s.ts >= ts {
			// What was between the sample before and this one reads at this one.
			return ts, time.Unix(0, h.samples[max(i-1, 0)].wall)
		}
	}
	if n := len(h.samples); n > 0 {
		return ts, time.Unix(0, h.samples[n-1].wall)
	}
	return ts, time.Time{}
}

// noteTime takes a sample if the last one is old enough, and removes those that no
// history needs any more. At the beginning of a process it takes one that is closer.
func (db *DB) noteTime(ctx context.Context, now time.Time, begin bool) error {
	h := &db.point.history
	if h.keep <= 0 {
		return nil
	}
	add, remove := h.due(now, begin, db.oracle.Last)
	if add.ts == 0 && len(remove) == 0 {
		return nil
	}
	m := store.RowMutation{Row: clockRow}
	for _, s := range remove {
		m.Mutations = append(m.Mutations, store.Mutation{Op: store.Delete, Group: metaGroup, Column: s.column(), TS: s.ts})
	}
	if add.ts != 0 {
		m.Mutations = append(m.Mutations, store.Mutation{Op: store.Put, Group: metaGroup, Column: add.column(), TS: add.ts})
	}
	if err := db.table.Apply(ctx, []store.RowMutation{m}); err != nil {
		return fmt.Errorf("txn: note the time of a timestamp: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.samples = h.samples[len(remove):]
	if add.ts != 0 {
		h.samples = append(h.samples, add)
	}
	return nil
}

// due is the sample to add, if any, and those to remove, from the oldest on.
func (h *timeline) due(now time.Time, begin bool, last func() uint64) (add timeSample, remove []timeSample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.firstAfter(now.Add(-h.keep)); i > 1 {
		remove = slices.Clone(h.samples[:i-1]) // the last one before stays: it is what oldest finds
	}
	apart := max(h.keep/samplesPerHistory, time.Second)
	if begin && len(h.samples)-len(remove) < 2*samplesPerHistory {
		apart = time.Nanosecond
	}
	if n := len(h.samples); n == 0 || now.UnixNano()-h.samples[n-1].wall >= apart.Nanoseconds() {
		add = timeSample{now.UnixNano(), last()}
		if n > 0 {
			add.ts = max(add.ts, h.samples[n-1].ts)
		}
	}
	return add, remove
}

func (s timeSample) column() []byte { return binary.BigEndian.AppendUint64(nil, uint64(s.wall)) }
