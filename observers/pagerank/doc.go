// Package pagerank keeps the ranks of a link graph up to date while its edges change:
//
//	rank(u) = 0.15 + 0.85 · Σ over edges v→u of rank(v) / outdegree(v)
//
// The package follows a change only as far as it matters; it never solves the whole graph.
// The method is residual push (Andersen, Chung, Lang, FOCS 2006), updated under changes of
// the graph as in Ohsaka, Maehara, Kawarabayashi (KDD 2015).
//
// Each node has a State. In is the sum of what the node's sources have passed on to it, and
// Pushed is the rank that it last divided among its targets. The estimate of its rank is
// 0.15 + 0.85·In, and its residual is the estimate minus Pushed. A node whose residual
// exceeds the bound pushes: it passes the difference on to its targets. Their residuals
// grow by their shares, and so on until all residuals are within the bound. When the edges
// of a node change, it takes back exactly what it passed on along the old ones and passes
// the same rank on along the new ones.
//
// The package reads states and edges through a Reader and returns the states that have
// changed. It knows nodes only by their names. The caller decides where the graph is
// stored and when a run happens. It runs one Run at a time and makes all changes of a run
// visible together, either at once or as a journal (Overlay).
//
// # Invariants
//
// They hold before and after every run, however much a run has left for the next one:
//
//  1. In(u) = Σ Pushed(v)/Out(v) and Inlinks(u) is the number of v, over all edges v→u.
//     Out(v) is the number of edges from v. No rank is in transit between nodes.
//  2. A node without edges in either direction has NoState, and every other node has its
//     own state.
//  3. A node whose residual exceeds the bound is a Change with Again set, or was one in an
//     earlier run and has not been given to Update since.
//  4. |Rank − estimate| ≤ tolerance/4 of Rank. Rank equals the estimate if the node has
//     no inlinks.
//
// By 1, edges come and go exactly, up to rounding: what is taken back is what was passed
// on.
//
// # Why no rank is off by more than the tolerance
//
// Let θ be the bound of residuals (ResidualBound). When no residual exceeds it, the error
// of an estimate is E(u) = 0.85·Σ (E(v)+residual(v))/Out(v), and so |E(u)| ≤
// (θ/0.15)·(rank(u) − 0.15): rank(u) is 0.15 times the same sum over all paths that lead
// to u, each path without its last node. With θ = 0.15·¾·tolerance that is ¾ of the
// tolerance, whatever the graph looks like. Publishing (invariant 4) adds the fourth
// quarter. Ranks of nodes without inlinks are exact.
package pagerank
