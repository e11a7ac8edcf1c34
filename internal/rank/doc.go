// Package rank solves the ranks of a whole link graph (semantics.md section 6):
//
//	rank(u) = 0.15 + 0.85 · Σ over edges v→u of rank(v) / outdegree(v)
//
// It is pure: nodes are numbers, the graph is held compressed in memory (graph.go),
// and power iteration runs over it in parallel (solve.go). It knows neither URLs nor
// transactions. The batch and `indexer rank --full` use it; the observers keep the
// same ranks up to date step by step in another way (observers/rank.go), so that one
// can be held against the other.
//
// A graph of 100 million edges takes some 300 MiB, 16 bytes a node come on top, and
// building it another 4 bytes an edge for a while: it fits in 2 GiB. An iteration
// takes about a second on two cores (BenchmarkIteration).
package rank

// The constants of the definition.
const (
	// Teleport is what every URL has of itself: the rank of one that nothing links to.
	Teleport = 0.15
	// Damping is the part of its rank that a URL passes on.
	Damping = 1 - Teleport
)

// Estimate is the rank of a node with so many inlinks that pass on in altogether.
func Estimate(inlinks int, in float64) float64 {
	if inlinks == 0 {
		return Teleport // whatever rounding has left in the sum
	}
	return Teleport + Damping*in
}

// AboutHighest is how much of the highest rank a member of a cluster needs to be
// chosen as if it were the highest (semantics.md section 4).
const AboutHighest = 0.99

// Equal is the relative difference below which two exact ranks count as equal:
// floating point has no better.
const Equal = 1e-9

// Stands reports whether a URL with an exact rank counts among the highest ranked of
// its cluster.
func Stands(rank, highest float64) bool {
	return rank >= (AboutHighest-Equal)*highest
}
