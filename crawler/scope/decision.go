package scope

import (
	"sync/atomic"

	"github.com/webindexer/indexer/page"
)

// Decision is the answer about one URL.
type Decision struct {
	OK bool
	// Rule is the id of the rule that decided; the package's comment lists them. Ids do
	// not change, and may be stored.
	Rule string
	// Why explains it in words, for people; it may change. It is a clause with the URL
	// as its subject: "is at depth 5, ...".
	Why string
	// Instead is set by trap.session: the same URL without its session id. Decide on it
	// in place of the refused one.
	Instead page.URL
}

func take(rule, why string) Decision   { return Decision{OK: true, Rule: rule, Why: why} }
func refuse(rule, why string) Decision { return Decision{Rule: rule, Why: why} }

// tally counts refusals by rule. The set of rules is fixed.
type tally map[string]*atomic.Int64

func newTally(rules ...string) tally {
	t := make(tally, len(rules))
	for _, r := range rules {
		t[r] = new(atomic.Int64)
	}
	return t
}

// count counts d if it is a refusal, and returns it.
func (t tally) count(d Decision) Decision {
	if !d.OK {
		t[d.Rule].Add(1)
	}
	return d
}

func (t tally) counts() map[string]int64 {
	counts := make(map[string]int64, len(t))
	for rule, n := range t {
		counts[rule] = n.Load()
	}
	return counts
}
