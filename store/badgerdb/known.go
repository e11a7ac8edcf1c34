package badgerdb

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// known is a Bloom filter of all rows and columns that have, or had, a cell in a versioned
// group that is not only scanned. Most reads of a load ask for what is not there: whether a
// URL was fetched, whether the target of a link has a rank. Timestamps are part of Badger's
// keys, so Badger's own filters cannot answer that, and an iterator would have to look into
// every level.
//
// Invariant: whatever a view v with v.seq >= since can see is in the filter. The filter only
// grows, and the committer adds the columns of a group before any view can see it. So an
// answer "not there" is right for ever; a column that was deleted only costs a read.
//
// The filter leaves out groups that are only scanned: their columns are not read by name, and
// they may have more columns than all other groups together. But a later opening may declare
// such a group differently, and would then miss all of its cells. So the filter records which
// groups it lacks, and an opening that needs one of them does not use it.
//
// The filter is written when the table is closed, and read when it is opened, if the table
// is as it was then. If not, because a process was killed or wrote without a filter, a scan
// of all keys makes it again in the background, once enough reads have found nothing to
// make that worth it. A short command never scans.
//
// There are layers, because the bits of a filter cannot be spread over a larger one: when the
// last layer is full, one of four times its size follows. Each is divided into blocks of
// one line of the processor's cache, so a look-up costs one access to memory per layer.
type known struct {
	layers atomic.Pointer[[]knownLayer] // only the committer appends
	left   int64                        // remaining capacity of the last layer; the committer's
	since  atomic.Uint64
	most   int      // bytes of the largest layer
	lacks  groupSet // groups whose columns it does not have, by id after firstGroupID
	file   knownFile
}

type knownLayer []atomic.Uint64

const (
	knownFirst      = 64 << 10 // bytes of the first layer
	knownGrowth     = 4
	knownBitsEach   = 12 // bits of a layer for each row or column
	knownBits       = 5  // bits that are set for a row or column
	knownBlockWords = 8
	// knownMisses is how many reads must find nothing before the filter is made again.
	knownMisses = 5000
	never       = math.MaxUint64
)

// newKnown returns an empty filter for an empty table with these groups, with layers of at
// most the given number of bytes.
func newKnown(most int, groups []group) *known {
	k := &known{most: max(most&^63, knownFirst)}
	k.leaveOut(groups)
	k.layers.Store(&[]knownLayer{})
	k.grow()
	return k
}

// leaveOut notes that the filter will lack columns of those groups that are only scanned.
func (k *known) leaveOut(groups []group) {
	for i := range groups {
		if groups[i].Scanned {
			k.lacks.add(int(groups[i].id - firstGroupID))
		}
	}
}

// serves reports whether the filter has all columns that readers of these groups ask for.
func (k *known) serves(groups []group) bool {
	for i := range groups {
		if groups[i].pointRead() && k.lacks.has(int(groups[i].id-firstGroupID)) {
			return false
		}
	}
	return true
}

// grow adds a layer.
func (k *known) grow() {
	old := *k.layers.Load()
	size := knownFirst
	if n := len(old); n > 0 {
		size = min(len(old[n-1])*8*knownGrowth, k.most)
	}
	k.file.isBehind()
	layers := append(old[:len(old):len(old)], make(knownLayer, size/8))
	k.left = int64(size) * 8 / knownBitsEach
	k.layers.Store(&layers)
}

// add notes a row or column.
func (k *known) add(head []byte) { k.addHash(xxhash.Sum64(head)) }

func (k *known) addHash(h uint64) {
	layers := *k.layers.Load()
	for _, l := range layers {
		if l.has(h) {
			return
		}
	}
	last := layers[len(layers)-1]
	if k.left <= 0 && len(last)*8 < k.most {
		k.grow()
		layers = *k.layers.Load()
		last = layers[len(layers)-1]
	}
	last.add(h)
	k.left--
	k.file.note(h)
}

// addColumn notes a column, by the head of its keys, and its row. Danger: if the filter
// has the column already, that says nothing about the row, because the filter may only
// seem to have the column.
func (k *known) addColumn(head []byte) {
	k.add(head)
	if end, err := rowEnd(head); err == nil { // the committer has made the head
		k.add(head[:end])
	}
}

// has reports whether a row or column may be there.
func (k *known) has(head []byte) bool {
	h := xxhash.Sum64(head)
	for _, l := range *k.layers.Load() {
		if l.has(h) {
			return true
		}
	}
	return false
}

// block returns the first word of the block of a hash, by its upper bits, and mixes the lower
// ones for the places in the block.
func (l knownLayer) block(h uint64) (first, places uint64) {
	blocks := uint64(len(l) / knownBlockWords)
	return (h >> 32 * blocks >> 32) * knownBlockWords, h * 0x9e3779b97f4a7c15
}

func (l knownLayer) add(h uint64) {
	first, places := l.block(h)
	for range knownBits {
		l[first+places>>61].Or(1 << (places >> 55 & 63))
		places = places<<9 | places>>55
	}
}

func (l knownLayer) has(h uint64) bool {
	first, places := l.block(h)
	for range knownBits {
		if l[first+places>>61].Load()&(1<<(places>>55&63)) == 0 {
			return false
		}
		places = places<<9 | places>>55
	}
	return true
}

// lacks reports whether this reader can see no cell of a row or column, and never
// could.
func (r *reader) lacks(head []byte) bool {
	k := r.db.known.Load()
	return k != nil && r.txn.ReadTs() >= k.since.Load() && !k.has(head)
}

// foundNothing counts a read that did not find its row or column. It starts the scan
// that makes the filter, if there is none.
func (db *DB) foundNothing() {
	if db.known.Load() == nil && db.misses.Add(1) == knownMisses {
		select {
		case db.wantKnown <- struct{}{}:
		default:
		}
	}
}

// makeKnown makes the filter once it is wanted, unless the context ends before.
func (db *DB) makeKnown(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-db.wantKnown:
	}
	if err := db.scanKnown(ctx); err != nil && ctx.Err() == nil {
		db.tables.log.Warnf("reads of what is not there stay slow until the next opening: %v", err)
	}
}

// scanKnown fills a filter from all keys. From the moment at which the committer adds to
// it, it has all later groups; and the view that is scanned, which is acquired after that,
// has all earlier ones. Older views do not use the filter: they may see what was deleted.
func (db *DB) scanKnown(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	k := newKnown(db.sizes.known, db.groups)
	k.since.Store(never)
	if err := db.submit(ctx, &request{alone: func() error { db.known.Store(k); return nil }}); err != nil {
		return err
	}
	v := db.views.acquire()
	defer db.views.release(v)
	for i := range db.groups {
		g := &db.groups[i]
		if !g.pointRead() {
			continue
		}
		if err := db.scanKnownGroup(ctx, v, g); err != nil {
			db.known.Store(nil)
			return err
		}
	}
	k.since.Store(v.seq)
	return nil
}

// scanKnownGroup adds the rows and columns of a group. Only the committer's goroutine may
// add them, and it does so some thousands at a time.
func (db *DB) scanKnownGroup(ctx context.Context, v *view, g *group) error {
	k := db.known.Load()
	prefix := []byte{g.id}
	it, err := v.iterator(prefix)
	if err != nil {
		return err
	}
	defer it.Close()
	var heads [][]byte
	add := func() error {
		some := heads
		heads = nil
		return db.submit(ctx, &request{alone: func() error {
			for _, head := range some {
				k.add(head)
			}
			return nil
		}})
	}
	var row, last []byte
	for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
		head, _, err := splitTS(it.Item().Key())
		if err != nil {
			return err
		}
		if string(head) == string(last) {
			continue
		}
		last = bytes.Clone(head)
		heads = append(heads, last)
		if row == nil || len(head) < len(row) || string(head[:len(row)]) != string(row) {
			end, err := rowEnd(head)
			if err != nil {
				return err
			}
			row = last[:end]
			heads = append(heads, row)
		}
		if len(heads) >= 4096 {
			if err := add(); err != nil {
				return err
			}
		}
	}
	return add()
}
