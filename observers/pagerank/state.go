package pagerank

import (
	"errors"

	"github.com/webindexer/indexer/internal/rank"
)

// State is the rank of a node with its parts.
type State struct {
	Inlinks int     // edges to the node
	In      float64 // what these pass on: the sum of Pushed/Out over their sources
	Out     int     // edges from the node
	Pushed  float64 // the rank that was last divided among them
	Rank    float64 // the rank as published: within the tolerance
}

// NoState is the state of a node without edges.
var NoState = State{Rank: rank.Teleport}

// Change is the new state of a node.
type Change struct {
	Node  string
	State State
	// Moved says that the documents that show the node must check its rank again: it
	// has a new published rank, or the node was given to Update.
	Moved bool
	// Again says that the residual exceeds the bound, and that the run had no room to
	// push it: the node has to be given to Update in a later run.
	Again bool
}

// gone reports that a node has lost all its edges, so its state is not stored.
func (c *Change) gone() bool { return c.State.Inlinks == 0 && c.State.Out == 0 }

// ErrInconsistent says that stored states and edges cannot come from this package.
var ErrInconsistent = errors.New("rank states and edges contradict each other")

// ResidualBound is how much of its rank a node may keep to itself at rest, so that all
// published ranks are within a tolerance.
func ResidualBound(tolerance float64) float64 { return rank.Teleport * 0.75 * tolerance }

// publishStep is the relative change of a rank that is published.
func publishStep(tolerance float64) float64 { return tolerance / 4 }
