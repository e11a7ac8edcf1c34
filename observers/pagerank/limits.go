package pagerank

import "cmp"

// Limits bounds what one run of pushes does. The rest is left for the next run. A field
// that is zero has its default.
type Limits struct {
	// States is how many rank states a run holds in memory before it reads no further
	// ones. The links of one page come on top. Default: 1,048,576.
	States int
	// Pushed is how many times a run passes a residual along an edge. Default:
	// 64,000,000, about two seconds.
	Pushed int
	// NewEdges is how many edges a run writes for nodes whose edges have changed.
	// Default: 200,000, about 4 MiB.
	NewEdges int
	// Direct is how many rank states a run writes itself. If more have changed, it
	// writes a journal. Default: 12,000, about 2 MiB.
	Direct int
	// Part is how many rank states a part of the journal has. Default: 8,000.
	Part int
}

// bytesPerState is about what a node takes in memory with its edges, read and about to
// be written.
const bytesPerState = 250

// Within returns the limits with the defaults filled in, for a process that should use no
// more than so many bytes of memory: a run may hold a third of that, but always as many
// states as it may write directly.
func (l Limits) Within(memory int64) Limits {
	l = Limits{
		States: cmp.Or(l.States, 1<<20), Pushed: cmp.Or(l.Pushed, 64_000_000), NewEdges: cmp.Or(l.NewEdges, 200_000),
		Direct: cmp.Or(l.Direct, 12_000), Part: cmp.Or(l.Part, 8_000),
	}
	l.States = int(min(int64(l.States), max(int64(l.Direct), memory/3/bytesPerState)))
	return l
}
