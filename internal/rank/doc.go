// Package rank solves the ranks of a whole link graph (semantics.md section 6):
//
//	rank(u) = 0.15 + 0.85 · Σ over edges v→u of rank(v) / outdegree(v)
//
// Nodes are numbers, the graph is compressed in memory (graph.go), and power iteration
// runs over it in parallel (solve.go). The package knows neither URLs nor transactions.
// The batch and `indexer rank --full` use it. The observers keep the same ranks up to
// date step by step, by another method (package observers/pagerank), so each method
// checks the other.
//
// A graph takes about two bytes for each edge, and 16 for each node. Building it takes
// another 4 bytes for each edge, so 100 million edges fit into 2 GiB. An iteration over that
// many takes about a second on two cores (BenchmarkIteration).
package rank

// The constants of the definition.
const (
	// Teleport is the rank of a URL without inlinks.
	Teleport = 0.15
	// Damping is the share of its rank that a URL passes on.
	Damping = 1 - Teleport
)

// Estimate returns the rank of a node whose inlinks together pass on in.
func Estimate(inlinks int, in float64) float64 {
	if inlinks == 0 {
		return Teleport // whatever rounding has left in the sum
	}
	return Teleport + Damping*in
}

// aboutHighest is how much of the highest rank a member of a cluster needs to be
// chosen as if it were the highest (semantics.md section 4).
const aboutHighest = 0.99

// equal is the relative difference below which two exact ranks count as equal:
// floating point has no better.
const equal = 1e-9

// Qualifies reports whether a URL with an exact rank counts among the highest ranked of
// its cluster.
func Qualifies(rank, highest float64) bool {
	return rank >= (aboutHighest-equal)*highest
}
