package observers

import (
	"context"
	"fmt"
	"sync"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// maxPasses is how many clusters may be counted at a time: what is being counted lies in
// memory. A variable for tests.
var maxPasses = 16

// count exports clusters with too many inlinks to be read in one run.
//
//	watches  index:count (weak only), at cluster rows
//	reads    what index reads, the link rows in parts
//	writes   what index writes
//	wakes    settle (weak); itself (weak): to continue, or for another pass
//
// A pass reads the inlinks of a cluster, inlinkRows in each run, at the snapshot of that
// run, and continues (txn.Txn.Continue) until it has read them all. What it has counted
// lies in memory (passes); the notification, which stays until the pass has ended, lies in
// the table. So a run is bounded in time and memory however many pages link to a page,
// and a crash costs one pass, which begins again.
//
// A pass over a million inlinks takes some seconds, and while pages stream in there is
// always another one to make. So the observer is debounced: a cluster gets one pass in
// countDebounce, and another one when nothing has come for countIdle. MaxOpen bounds the
// passes in memory.
//
// # Why the last export is right
//
// Let C be the commit of a change of anything that the document is made of. It wakes
// index, as it does for every cluster (see the package's head), and a run of index that
// began at I > C notes I with the pass (passes.changed) and wakes count. A pass that began
// at B > I has read everything after C. A pass that began before I does not count as the
// last one: at its end, the note says I ≥ B, and it asks for another. Hence:
//
//  1. The notification at the cluster goes only with the end of a pass that began after
//     the start of every run of index on the cluster.
//  2. When no notification is left, nothing was committed since that pass began, except
//     ranks: all its parts are of one state, and the document is the one that a run would
//     make that read everything at once.
//
// index notes only clusters that have an entry in passes. So the first run of count that
// makes the entry does nothing else, and the pass begins in the next one: a run of index
// that did not find the entry began before that. If index commits a document itself
// (because few inlinks are left), the pass has the note as well.
//
// Ranks move without waking index, and so do times of fetches that brought nothing new
// (index.Writer.Touch renews those of documents that exist). So the run that exports
// reads the time, and what ranks decide, once more. What it writes of them is of its own
// snapshot, as in rerank. Ranks of sources, which choose the best anchors, are those of the
// pass (anchors.go).
//
// A pass that was overtaken is exported before the next one begins: under changes without
// end the document is behind by one pass, not for ever.
//
// docs/decisions/0011-giant-clusters.md says what was rejected.
func (x *indexer) count(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		done := false
		defer func() {
			if !done { // an error, or a panic: it may have read half a part
				x.passes.drop(row)
			}
		}()
		if err := x.countPart(ctx, tx, row, key); err != nil {
			return fmt.Errorf("count the inlinks of cluster %x: %w", key[:6], err)
		}
		done = true
		return nil
	})
}

// inlinkRows is how many link rows a run of index or count reads of a cluster: some 50 ms.
// A variable for tests.
var inlinkRows = 25_000

func (x *indexer) countPart(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey) error {
	p, err := x.passes.of(ctx, tx, row, key)
	if later(tx, row, err) { // index will have us begin again
		x.passes.drop(row)
		return nil
	}
	if err != nil {
		return err
	}
	if p == nil { // the next run begins it
		tx.Continue(row, schema.Count)
		return nil
	}
	if !p.all {
		left := inlinkRows
		if p.all, err = p.next(ctx, tx, &left); err != nil {
			return err
		}
		if !p.all {
			tx.Continue(row, schema.Count)
			return nil
		}
	}
	return x.exportPass(ctx, tx, row, key, p)
}

// exportPass exports what a pass has counted.
func (x *indexer) exportPass(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey, p *pass) error {
	d := *p.finished()
	now, err := assembleMembers(ctx, tx, key)
	behind := later(tx, row, err)
	if err != nil && !behind {
		return err
	}
	fresh := x.passes.end(row, p)
	if !fresh {
		tx.Notify(row, schema.Count)
	}
	if behind {
		return nil
	}
	if now.Canonical != d.Canonical { // whoever has changed that wakes index
		tx.Notify(row, schema.Dirty)
		return nil
	}
	d.Rank, d.unsettled = now.Rank, now.unsettled
	if d.Canonical != "" {
		if d.FetchedAt, err = FetchedAt(ctx, tx, d.Canonical); err != nil {
			return err
		}
	}
	out := x.output(tx)
	out.add(row, key, &d, fresh)
	return out.write(ctx)
}

// passes are those under way, by cluster row.
type passes struct {
	mu    sync.Mutex
	byRow map[string]*entry
}

// entry is what is known of a cluster whose inlinks are being counted.
type entry struct {
	changed uint64 // start timestamp of the last run of index, or of that which made the entry
	pass    *pass  // nil before the first one
}

// pass is used by one run of count at a time: a row is in one worker's hands.
type pass struct {
	*assembly
	began uint64 // start timestamp of its first run
	all   bool   // everything is read
	ended bool   // and, as far as we know, exported
}

// changed notes that index has begun to run on a cluster.
func (x *passes) changed(row string, start uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.byRow[row]; e != nil {
		e.changed = max(e.changed, start)
	}
}

// of is the pass of a cluster; a new one if there is none, or if the last one has ended
// and was overtaken. It is nil if the transaction is too old to begin one.
func (x *passes) of(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey) (*pass, error) {
	p, mayBegin := x.look(row, tx.Start())
	if p != nil || !mayBegin {
		return p, nil
	}
	a, err := beginAssembly(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	p = &pass{assembly: a, began: tx.Start()}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byRow[row].pass = p // only we remove our entry while we run; see evict
	return p, nil
}

// look is the pass to go on with, if there is one; or else whether one may begin.
func (x *passes) look(row string, start uint64) (p *pass, mayBegin bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.byRow[row]
	if e == nil {
		// index may have run just before, and not have found an entry.
		x.evict()
		x.byRow[row] = &entry{changed: start}
		return nil, false
	}
	switch {
	case e.pass != nil && !(e.pass.ended && e.changed >= e.pass.began):
		return e.pass, false
	}
	if e.pass != nil {
		e.pass = nil // overtaken; and evict leaves the entry alone
	}
	return nil, start > e.changed
}

// end notes that a pass is being exported, and says whether nothing has overtaken it. It
// stays, for a run that has to be repeated because of a conflict.
func (x *passes) end(row string, p *pass) (fresh bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p.ended = true
	e := x.byRow[row] // nil: a pass that had ended before, and was evicted since
	if e == nil {
		return false
	}
	return e.changed < p.began
}

func (x *passes) drop(row string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.byRow, row)
}

// keptPasses is how many passes that have ended are kept.
const keptPasses = 8

// evict forgets passes that have ended, if there are many. It is called with mu held.
func (x *passes) evict() {
	if x.byRow == nil {
		x.byRow = make(map[string]*entry)
	}
	if len(x.byRow) < keptPasses {
		return
	}
	for row, e := range x.byRow {
		if e.pass != nil && e.pass.ended && e.changed < e.pass.began {
			delete(x.byRow, row)
		}
	}
}
