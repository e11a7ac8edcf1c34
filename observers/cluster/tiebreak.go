package cluster

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/page"
)

// Tie is a contested choice.
type Tie struct {
	Members   []Ranked // see Contenders
	Contested bool     // by the published ranks; if false, there is nothing to decide
	Canonical page.URL // as BreakTies has decided
}

// NewTie finds out whether the choice among contenders is contested.
func NewTie(members []Ranked) *Tie {
	return &Tie{Members: members, Contested: choose(members).Contested}
}

// choose does what Choose does, for a list.
func choose(members []Ranked) Choice {
	c, _ := Choose(All(members)) // a list yields no errors
	return c
}

// Ranks are the ranks of all URLs at some point in a computation, each within a tolerance.
type Ranks struct {
	Of        func(page.URL) float64
	Tolerance float64
}

// Solver computes the ranks of all URLs, more exactly before each call of enough, until
// enough returns true or floating point allows nothing better.
type Solver func(ctx context.Context, enough func(Ranks) bool) error

// BreakTies decides contested choices with ranks that are as exact as necessary. If there
// are no such choices, it computes no ranks.
func BreakTies(ctx context.Context, ties []*Tie, solve Solver) error {
	if !slices.ContainsFunc(ties, func(t *Tie) bool { return t.Contested }) {
		return nil
	}
	return solve(ctx, func(r Ranks) bool {
		decided := true
		for _, t := range ties {
			if t.Contested && !t.decide(r) {
				decided = false
			}
		}
		return decided
	})
}

// decide chooses by ranks other than the published ones, and reports whether these are exact
// enough.
func (t *Tie) decide(r Ranks) bool {
	members := make([]Ranked, len(t.Members))
	for i, m := range t.Members {
		value := r.Of(m.URL)
		// At first, the error of a computed rank can be greater than the rank.
		members[i] = Ranked{m.Member, m.Linked, value, least(value, r.Tolerance), most(value, min(r.Tolerance, 1-1e-9))}
	}
	c := choose(members)
	t.Canonical = c.Canonical
	return !c.Contested
}
