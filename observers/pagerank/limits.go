package pagerank

import "cmp"

// Limits bounds what one run of pushes does. It leaves the rest for the next run. A field
// that is zero has its default.
type Limits struct {
	// States is how many rank states a run holds in memory before it reads no more, or
	// fewer if their names have more than 160 bytes on average. The links of one page may
	// exceed it. Default: 4,194,304, for which Within asks for 3 GiB of memory. What a full
	// run leaves comes back a batch of nodes at a time, and each batch reads many of the
	// same states again. So the limit should exceed the part of the graph that a burst of
	// changes reaches: in a load, that is most of it.
	States int
	// Pushed is how many times a run passes a residual along an edge. Default:
	// 256,000,000, about eight seconds.
	Pushed int
	// NewEdges is how many edges a run writes for nodes whose edges have changed.
	// Default: 2,000,000, about 40 MiB, for which Within asks for 2.5 GiB of memory; 200,000
	// if there is less than 250 MiB. Other nodes wait for a later run, which visits many of
	// the same nodes again.
	NewEdges int
	// Direct is the greatest number of rank states that a run writes itself. If more have
	// changed, it writes a journal. Default: 12,000, about 2 MiB.
	Direct int
	// Part is how many rank states a part of the journal has. Default: 8,000.
	Part int
	// Ahead is for how many nodes a run announces at a time that it will read their edges
	// (Reader.ReadAhead). Default: none, because reading ahead pays only if a look-up takes long.
	Ahead int
}

// bytesPerState is about what a node and its edges take in memory, once as read and once
// as about to be written.
const bytesPerState = 250

// bytesPerName is how much of that the name of a node may take on average.
const bytesPerName = 160

// bytesPerNewEdge is about what an edge takes until it is written.
const bytesPerNewEdge = 50

// leastNewEdges is how many edges a run may write, however little memory there is.
const leastNewEdges = 200_000

// Within returns the limits with the defaults filled in, for a process that should use no
// more than the given bytes of memory: a run may use a third of that, but may always hold
// as many states as it may write directly. New edges may take a 25th.
func (l Limits) Within(memory int64) Limits {
	l = Limits{
		States: cmp.Or(l.States, 1<<22), Pushed: cmp.Or(l.Pushed, 256_000_000), NewEdges: cmp.Or(l.NewEdges, 2_000_000),
		Direct: cmp.Or(l.Direct, 12_000), Part: cmp.Or(l.Part, 8_000), Ahead: l.Ahead,
	}
	if room := max(leastNewEdges, memory/25/bytesPerNewEdge); int64(l.NewEdges) > room {
		l.NewEdges = int(room)
	}
	l.States = int(min(int64(l.States), max(int64(l.Direct), memory/3/bytesPerState)))
	return l
}
