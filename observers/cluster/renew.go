package cluster

import (
	"context"
	"fmt"
	"slices"
)

// Budget bounds what a run that renews summaries of several clusters may read and write.
type Budget struct {
	limits  Limits
	members int // how many may still be read
	writes  int // mutations that the transaction may still get
	waiting int // positions that the run has not dealt with; each may become a mutation
}

// NewBudget returns the budget of a run that renews summaries at the given number of
// positions.
func NewBudget(l Limits, positions int) *Budget {
	l = l.WithDefaults()
	return &Budget{limits: l, members: l.Run, writes: l.Writes - positions, waiting: positions}
}

// Spent reports whether the run has to leave the waiting positions to another run. Then the
// transaction still has room for a notification for each of them, and for one more summary.
func (b *Budget) Spent() bool {
	return b.members <= 0 || b.writes <= b.waiting+b.limits.Read/b.limits.Split+8
}

// Wrote subtracts mutations that the caller has made from the budget.
func (b *Budget) Wrote(mutations int) { b.writes -= mutations }

// Read subtracts members that the caller has read, and positions that it has thereby
// dealt with, from the budget.
func (b *Budget) Read(members, positions int) {
	b.members -= members
	b.waiting -= positions
}

// Left notes that positions were left to another run, with a notification each.
func (b *Budget) Left(positions int) {
	b.waiting -= positions
	b.writes -= positions
}

// Write is a change of a stored summary.
type Write struct {
	At     string
	Delete bool
	Summary
}

// Renewal is the result of renewing summaries of a cluster: the writes, in order, and the
// positions to wake.
//
// # Invariants
//
// They hold if the caller writes all of a Renewal in the transaction that has read members
// and summaries.
//
//  1. The parts of a cluster that has summaries begin at "", and each goes up to the next.
//     So each member is in exactly one part.
//  2. A transaction that changes a member, or publishes its rank, wakes the renewal at
//     its position, even if the cluster has no summaries: it may get them at that moment.
//  3. A summary that is incomplete or disagrees with its members has a notification: at the
//     position of one of them, or where it begins (Again).
//  4. A renewal of an incomplete summary, and one that begins or ends summaries, wakes the
//     export of the document (Notify). A renewal of another summary checks the whole cluster
//     in the same run.
//
// # Why no change is missed
//
// Let a member change at C. Its notification (2) causes a run that begins at R > C. If the
// run finds summaries, it renews the one that holds the position, from the members at R. If
// it finds none, it reads all members; summaries that another run begins at F > R are
// incomplete at first, and are read by runs that begin after F.
//
// Every renewed summary is written, even if it is the same as before. So two runs conflict
// if they renew the same summary, and also if one of them splits it or merges it with its
// neighbour, because every part that changes its extent is written or deleted. So a summary
// always replaces one of an earlier state, and in the end there is one of a state after C.
type Renewal struct {
	Writes []Write
	Again  []string // positions that another run has to renew
	Notify bool     // there were incomplete summaries, or all have ended: now others may choose
}

// Begin makes one incomplete summary of a cluster that has become giant. Renew has to renew it at
// the position "".
func (s *Summaries) Begin(b *Budget) {
	s.Parts = []Part{{Summary: Summary{Incomplete: true}}}
	b.waiting++
}

// End deletes the summaries of a cluster that has become small.
func (s *Summaries) End(b *Budget) *Renewal {
	w := &renewer{Summaries: s, Renewal: Renewal{Notify: true}, budget: b}
	b.writes--
	for _, p := range s.Parts {
		w.write(Write{At: p.At, Delete: true})
	}
	return &w.Renewal
}

// Renew renews the summaries that contain some positions, within the budget. The position ""
// means the cluster: it renews the first summary only if that is incomplete.
func (s *Summaries) Renew(ctx context.Context, r Reader, b *Budget, positions []string) (*Renewal, error) {
	w := &renewer{Summaries: s, reader: r, budget: b, done: make(map[string]bool)}
	if w.Notify = s.Total().Incomplete; w.Notify {
		b.writes--
	}
	slices.Sort(positions)
	for _, at := range slices.Backward(positions) { // a split does not move the parts before it
		i := s.find(at)
		spent := b.Spent()
		b.waiting--
		switch {
		case w.done[s.Parts[i].At], at == "" && !s.Parts[0].Incomplete:
		case spent:
			w.again(at)
		default:
			if err := w.renew(ctx, i); err != nil {
				return nil, fmt.Errorf("renew a summary of members: %w", err)
			}
		}
	}
	return &w.Renewal, nil
}

// renewer renews summaries of one cluster.
type renewer struct {
	*Summaries
	Renewal
	reader Reader
	budget *Budget
	done   map[string]bool // where renewed summaries begin
}

func (w *renewer) write(c Write) {
	w.budget.writes--
	w.Writes = append(w.Writes, c)
}

func (w *renewer) again(at string) {
	w.budget.writes--
	w.Again = append(w.Again, at)
}

// renew renews part i, and splits it or merges it with a neighbour.
func (w *renewer) renew(ctx context.Context, i int) error {
	if err := w.read(ctx, i); err != nil {
		return err
	}
	if now := &w.Parts[i]; now.Incomplete || now.Members >= w.budget.limits.Smallest {
		return nil
	}
	switch {
	case i+1 < len(w.Parts) && !w.Parts[i+1].Incomplete:
	case i > 0 && !w.Parts[i-1].Incomplete:
		i--
	default:
		return nil
	}
	w.write(Write{At: w.Parts[i+1].At, Delete: true})
	w.Parts = slices.Delete(w.Parts, i+1, i+2)
	return w.read(ctx, i)
}

// read replaces part i by one part or several, made from its present members.
func (w *renewer) read(ctx context.Context, i int) error {
	var list []Entry
	beyond := "" // position of the first member that was not read
	for m, err := range w.members(ctx, w.reader, i) {
		if err != nil {
			return err
		}
		if len(list) == w.budget.limits.Read {
			beyond = m.At
			break
		}
		list = append(list, m)
	}
	w.budget.members -= len(list)
	parts := split(w.Parts[i].At, list, w.budget.limits)
	if beyond != "" {
		parts = append(parts, Part{beyond, Summary{Incomplete: true}})
		w.again(beyond)
	}
	for _, p := range parts {
		w.write(Write{At: p.At, Summary: p.Summary})
		w.done[p.At] = true
	}
	w.Parts = slices.Replace(w.Parts, i, i+1, parts...)
	return nil
}

// split divides members, possibly none, into parts. The first part begins at at.
func split(at string, members []Entry, l Limits) []Part {
	parts := []Part{{At: at}}
	for k := range members {
		last := &parts[len(parts)-1]
		if left := len(members) - k; len(members) > l.Largest && last.Members >= l.Split && left > l.Split/2 {
			parts = append(parts, Part{At: members[k].At})
			last = &parts[len(parts)-1]
		}
		last.addMember(&members[k].Ranked)
	}
	return parts
}
