package cli

import (
	"testing"

	"github.com/webindexer/indexer/oracle"
)

func TestFindProblems(t *testing.T) {
	worker := processState{Process: oracle.Process{Description: oracle.Description{Role: "indexer worker"}}, Alive: true}
	silent := processState{Process: oracle.Process{PID: 7, Host: "h"}}
	serving := []oracleState{{State: oracleServing}}
	last := oracle.Holder{Token: "t", Address: "h:1"}
	for _, tt := range []struct {
		name       string
		s          state
		holder     oracle.Holder
		hasOracles bool
		want       []string
	}{
		{name: "one process alone"},
		{name: "all well", s: state{Oracles: serving, Processes: []processState{worker}, Leases: []leaseState{{Name: "rank", Alive: true}}}, holder: last, hasOracles: true},
		{name: "no oracle serves", s: state{Oracles: []oracleState{{State: oracleForeign}}, Processes: []processState{worker}}, hasOracles: true, want: []string{"none of the oracles serves"}},
		{name: "no oracle in the settings", s: state{Processes: []processState{worker}}, holder: last, want: []string{"was at h:1"}},
		{name: "no worker", s: state{Oracles: serving, Leases: []leaseState{{Name: "rank"}}}, hasOracles: true, want: []string{"no worker runs"}},
		{name: "a silent process", s: state{Oracles: serving, Processes: []processState{worker, silent}, Leases: []leaseState{{Name: "rank"}}}, hasOracles: true, want: []string{"process 7 on h shows no signs of life", "holds the lease rank"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.findProblems(tt.holder, tt.hasOracles)
			for _, want := range tt.want {
				if !tt.s.hasProblem(want) {
					t.Errorf("%q does not say %q", tt.s.Problems, want)
				}
			}
			if len(tt.s.Problems) != len(tt.want) {
				t.Errorf("got %q, want %d problems", tt.s.Problems, len(tt.want))
			}
		})
	}
}
