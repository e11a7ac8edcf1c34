package cluster

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/page"
)

// Tie is a contested choice.
type Tie struct {
	Members   []Ranked // see Contenders
	Contested bool     // by the published ranks; else there is nothing to decide
	Canonical page.URL // as BreakTies decides
}

// NewTie finds out whether the choice among contenders is contested.
func NewTie(members []Ranked) *Tie {
	return &Tie{Members: members, Contested: choose(members).Contested}
}

// choose is Choose of a list.
func choose(members []Ranked) Choice {
	c, _ := Choose(All(members)) // a list yields no errors
	return c
}

// Ranks are the ranks of all URLs at some point of a computation, each within a tolerance.
type Ranks struct {
	Of        func(page.URL) float64
	Tolerance float64
}

// Solver computes the ranks of all URLs, more exactly from call to call of enough, until
// enough reports true or floating point has no better.
type Solver func(ctx context.Context, enough func(Ranks) bool) error

// BreakTies decides contested choices by ranks that are as exact as it takes. Without such a
// choice it computes no ranks.
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

// decide chooses by other ranks than the published ones, and reports whether these are exact
// enough.
func (t *Tie) decide(r Ranks) bool {
	members := make([]Ranked, len(t.Members))
	for i, m := range t.Members {
		value := r.Of(m.URL)
		// The first ranks of a computation can be off by more than themselves.
		members[i] = Ranked{m.Member, m.Linked, value, least(value, r.Tolerance), most(value, min(r.Tolerance, 1-1e-9))}
	}
	c := choose(members)
	t.Canonical = c.Canonical
	return !c.Contested
}
