package pagerank

import (
	"errors"

	"github.com/webindexer/indexer/internal/rank"
)

// State is the rank of a node with its parts.
type State struct {
	Inlinks int     // edges to the node
	In      float64 // what these edges pass on: the sum of Pushed/Out over their sources
	Out     int     // edges from the node
	Pushed  float64 // the rank that was last divided among these
	Rank    float64 // the rank as published: within the tolerance
}

// NoState is the state of a node without edges.
var NoState = State{Rank: rank.Teleport}

// Change is the new state of a node.
type Change struct {
	Node  string
	State State
	// Moved says that the documents that show the node must check its rank again: the
	// node has a new published rank, or was given to Update.
	Moved bool
	// Again says that the residual exceeds the bound and the run had no room to push it:
	// a later run has to give the node to Update.
	Again bool
}

// gone reports whether a node has lost all its edges. Then its state is not stored.
func (c *Change) gone() bool { return c.State.Inlinks == 0 && c.State.Out == 0 }

// ErrInconsistent means that stored states and edges cannot come from this package.
var ErrInconsistent = errors.New("rank states and edges contradict each other")

// ResidualBound returns the greatest residual of a node at rest with which all published
// ranks are within a tolerance.
func ResidualBound(tolerance float64) float64 { return rank.Teleport * 0.75 * tolerance }

// publishStep returns the relative change beyond which a rank is published again.
func publishStep(tolerance float64) float64 { return tolerance / 4 }
