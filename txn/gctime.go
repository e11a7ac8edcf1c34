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

// samplesPerHistory bounds how many samples there are, and so how much longer than
// asked for versions are kept.
const samplesPerHistory = 128

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
// or somewhat later: samples are a 128th of the history apart. It is 0 where the
// history does not reach so far back. Without a history there is none.
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

// noteTime takes a sample if the last one is old enough, and removes those that no
// history needs any more.
func (db *DB) noteTime(ctx context.Context, now time.Time) error {
	h := &db.point.history
	if h.keep <= 0 {
		return nil
	}
	add, remove := h.due(now, db.oracle.Last)
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
func (h *timeline) due(now time.Time, last func() uint64) (add timeSample, remove []timeSample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.firstAfter(now.Add(-h.keep)); i > 1 {
		remove = slices.Clone(h.samples[:i-1]) // the last one before stays: it is what oldest finds
	}
	apart := max(h.keep/samplesPerHistory, time.Second)
	if n := len(h.samples); n == 0 || now.UnixNano()-h.samples[n-1].wall >= apart.Nanoseconds() {
		add = timeSample{now.UnixNano(), last()}
		if n > 0 {
			add.ts = max(add.ts, h.samples[n-1].ts)
		}
	}
	return add, remove
}

func (s timeSample) column() []byte { return binary.BigEndian.AppendUint64(nil, uint64(s.wall)) }
