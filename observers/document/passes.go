package document

import (
	"maps"
	"sync"
)

// Passes has the passes over inlinks that are under way, by cluster. The observer count
// makes them; its comment explains why the rules here lead to the right last export.
//
// Numbers are start timestamps of transactions. The zero value is ready to use, and safe
// for concurrent use, but only one run of count may work on a cluster at a time.
type Passes struct {
	mu        sync.Mutex
	byCluster map[string]*clusterPasses
}

// clusterPasses is what is known about a cluster whose inlinks are being counted.
type clusterPasses struct {
	changed uint64 // start of the last run of index, or of the run that made this entry
	pass    *Pass  // nil before the first pass, and between two
}

// Pass is one reading of all inlinks of a cluster.
type Pass struct {
	*Assembly
	All   bool   // everything has been read
	began uint64 // start timestamp of its first run
	ended bool   // it has been exported, as far as is known
}

// Changed notes that a run of index on a cluster started.
func (x *Passes) Changed(cluster string, start uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.byCluster[cluster]; e != nil {
		e.changed = max(e.changed, start)
	}
}

// Current returns the pass to continue, if there is one. Otherwise it reports whether a run that
// started at that timestamp may begin one. It may not if index has changed something since.
func (x *Passes) Current(cluster string, start uint64) (p *Pass, mayBegin bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.byCluster[cluster]
	if e == nil {
		// A run of index may have started just before, and have found no entry.
		x.evict()
		x.byCluster[cluster] = &clusterPasses{changed: start}
		return nil, false
	}
	if e.pass != nil && !(e.pass.ended && e.changed >= e.pass.began) {
		return e.pass, false
	}
	e.pass = nil // it was overtaken; evict leaves an entry without a pass alone
	return nil, start > e.changed
}

// Begin adds a pass after Current has reported that one may begin.
func (x *Passes) Begin(cluster string, start uint64, a *Assembly) *Pass {
	p := &Pass{Assembly: a, began: start}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byCluster[cluster].pass = p // only the current run removes the entry, see evict
	return p
}

// End notes that a pass is being exported, and reports whether it has seen everything:
// nothing has changed since it began. The pass stays, for a run that has to be repeated
// because of a conflict.
func (x *Passes) End(cluster string, p *Pass) (fresh bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p.ended = true
	e := x.byCluster[cluster] // nil if the pass had ended before, and was evicted since
	return e != nil && e.changed < p.began
}

// Drop forgets a cluster.
func (x *Passes) Drop(cluster string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.byCluster, cluster)
}

// DropThose forgets the clusters for which drop returns true: from now on another process
// runs index on them, and notes changes with its own passes.
func (x *Passes) DropThose(drop func(cluster string) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.byCluster, func(cluster string, _ *clusterPasses) bool { return drop(cluster) })
}

// keptPasses is how many passes that have ended are kept.
const keptPasses = 8

// If many passes have ended, evict forgets them, including the overtaken ones: the next run of
// count on their clusters begins like the first. The caller holds mu.
func (x *Passes) evict() {
	if x.byCluster == nil {
		x.byCluster = make(map[string]*clusterPasses)
	}
	if len(x.byCluster) < keptPasses {
		return
	}
	maps.DeleteFunc(x.byCluster, func(_ string, e *clusterPasses) bool {
		return e.pass != nil && e.pass.ended
	})
}
