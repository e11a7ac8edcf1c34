// Package faulty wraps a store.Table so that one chosen operation goes wrong in one of the ways
// in which a real table can: it fails without effect, it takes effect and the answer is lost,
// it takes effect late, the disk is full, or it is slow.
//
// A test walks n = 1, 2, 3 … and runs its scenario once for each n with the n-th
// operation going wrong, until Probe.Met says that no operation had that number:
// every place where the scenario touches the table has then been tried.
package faulty

import (
	"cmp"
	"errors"
	"time"
)

// ErrInjected is what injected errors match.
var ErrInjected = errors.New("faulty: injected error")

// Fault is a way to go wrong.
type Fault uint8

// The faults.
const (
	// None changes nothing; a Plan with it only counts.
	None Fault = iota
	// Fail returns an error, and nothing happens.
	Fail
	// Lost lets the operation happen and returns an error: Unknown to the caller,
	// who must not conclude that nothing happened. A read just fails.
	Lost
	// Late returns an error at once and lets the operation happen later: right
	// before the operation that comes Plan.After operations later, or at Close.
	// A read just fails.
	Late
	// Full returns an error that matches store.ErrNoSpace and store.ErrNotDone, as
	// an engine does whose disk is full, and nothing happens. Reads are not affected.
	Full
	// Delay waits for Plan.Wait before the operation, or until its context ends.
	Delay
)

// String names the fault.
func (f Fault) String() string {
	return [...]string{"none", "fail", "lost", "late", "full", "delay"}[f]
}

// Kind is a set of kinds of operations.
type Kind uint8

// The kinds.
const (
	Read Kind = 1 << iota // Read, of the table or of a snapshot
	Scan                  // Scan, of the table or of a snapshot
	Mutate
	Apply
	Commit

	Reads  = Read | Scan
	Writes = Mutate | Apply | Commit
	All    = Reads | Writes
)

// Plan says what goes wrong.
type Plan struct {
	// N is the number of the operation that goes wrong, from 1; 0 means none.
	N int
	// Every repeats the fault: at N, and then at every Every-th operation after it. 0
	// means once.
	Every int
	// Kinds are the operations that are counted; 0 means All.
	Kinds Kind
	Fault Fault
	// After is for Late: how many operations pass before it takes effect; 0 means 1.
	After int
	// Wait is for Delay.
	Wait time.Duration
}

// counts says whether operations of a kind are counted.
func (p Plan) counts(k Kind) bool { return cmp.Or(p.Kinds, All)&k != 0 }

// hits says whether operation n, from 1, goes wrong.
func (p Plan) hits(n int) bool {
	switch {
	case p.Fault == None || p.N == 0 || n < p.N:
		return false
	case p.Every == 0:
		return n == p.N
	}
	return (n-p.N)%p.Every == 0
}
