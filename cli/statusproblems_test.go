package cli

import (
	"testing"
	"time"

	"github.com/webindexer/indexer/oracle"
)

func TestFindProblems(t *testing.T) {
	worker := processState{Process: oracle.Process{Description: oracle.Description{Role: "indexer worker"}}, Alive: true}
	silent := processState{Process: oracle.Process{PID: 7, Host: "h"}}
	writing := func(alive bool, index string) processState {
		p := worker
		p.Alive, p.Index = alive, index
		return p
	}
	now := time.Unix(1e9, 0)
	at := func(host string, beat time.Time) processState {
		return processState{Process: oracle.Process{Host: host, Beat: beat, Count: 1, Description: worker.Description}, Alive: true}
	}
	inEtcd := func(host string, beat time.Time) processState {
		p := at(host, beat)
		p.Count = 0
		return p
	}
	serving := []oracleState{{State: oracleServing}}
	last := oracle.Holder{Token: "t", Address: "h:1"}
	listened := func(address string) oracle.Holder { return oracle.Holder{Token: "t", Address: address} }
	silentAt := func(address string) state {
		return state{Oracles: []oracleState{{Address: address, State: oracleSilent}}, Processes: []processState{worker}}
	}
	for _, tt := range []struct {
		name       string
		s          state
		holder     oracle.Holder
		hasOracles bool
		hasEtcd    bool
		want       []string
	}{
		{name: "one process alone"},
		{name: "all well", s: state{Oracles: serving, Processes: []processState{worker}, Leases: []leaseState{{Name: "rank", Alive: true}}}, holder: last, hasOracles: true},
		{name: "no oracle serves", s: state{Oracles: []oracleState{{State: oracleForeign}}, Processes: []processState{worker}}, hasOracles: true, want: []string{"none of the oracles serves", "serves another store"}},
		{name: "an oracle is missing", s: state{Oracles: []oracleState{{State: oracleServing}, {Address: "h:2", State: oracleSilent}}, Processes: []processState{worker}}, hasOracles: true, want: []string{"the oracle at h:2 does not answer"}},
		{name: "all oracles are missing", s: state{Oracles: []oracleState{{Address: "h:2", State: oracleSilent}}, Processes: []processState{worker}}, hasOracles: true, want: []string{"none of the oracles serves"}},
		{name: "the oracle has moved", s: silentAt("192.0.2.2:1"), holder: listened("192.0.2.1:1"), hasOracles: true, want: []string{"the last one to serve was at 192.0.2.1:1"}},
		{name: "the oracle has died", s: silentAt("192.0.2.1:1"), holder: listened("192.0.2.1:1"), hasOracles: true, want: []string{"start one with `indexer oracle`"}},
		{name: "an oracle that has a name has died", s: silentAt("h:1"), holder: listened("192.0.2.1:1"), hasOracles: true, want: []string{"start one with `indexer oracle`"}},
		{name: "an oracle that listened on all addresses has died", s: silentAt("192.0.2.1:1"), holder: listened("[::]:1"), hasOracles: true, want: []string{"start one with `indexer oracle`"}},
		{name: "clocks differ", s: state{Time: now, Oracles: serving, Processes: []processState{at("fast", now.Add(3*time.Minute)), at("fast", now.Add(3*time.Minute)), at("fine", now.Add(-6*time.Second)), at("slow", now.Add(-11*time.Second))}}, holder: last, hasOracles: true, want: []string{"the clock of fast differs from that of this machine by 3m0s", "the clock of slow"}},
		{name: "clocks differ, with etcd", s: state{Time: now, Oracles: serving, Processes: []processState{inEtcd("fast", now.Add(3*time.Minute)), inEtcd("oracle", now.Add(-time.Hour))}}, holder: last, hasOracles: true, want: []string{"the clock of fast differs from that of this machine by 3m0s"}},
		{name: "etcd is missing in the settings", s: state{Oracles: serving}, holder: oracle.Holder{Token: "t", Domain: "etcd cluster 1"}, hasOracles: true, want: []string{"in etcd cluster 1"}},
		{name: "etcd does not answer", s: state{Oracles: serving, ProcessesUnknown: true, Leases: []leaseState{{Name: "rank"}}}, holder: oracle.Holder{Token: "t", Domain: "etcd cluster 1"}, hasOracles: true, hasEtcd: true},
		{name: "nobody uses etcd", s: state{Oracles: serving}, holder: oracle.Holder{Token: "t", Domain: oracle.TableDomain}, hasOracles: true, hasEtcd: true, want: []string{"in the table"}},
		{name: "no oracle in the settings", s: state{Processes: []processState{worker}}, holder: last, want: []string{"was at h:1"}},
		{name: "no worker", s: state{Oracles: serving, Leases: []leaseState{{Name: "rank"}}}, hasOracles: true, want: []string{"no worker runs"}},
		{name: "workers write to one index", s: state{Oracles: serving, Processes: []processState{writing(true, "sqlite:"), writing(true, "sqlite:"), worker}}, hasOracles: true},
		{name: "workers write to two indexes", s: state{Oracles: serving, Processes: []processState{writing(true, "sqlite:"), writing(true, "opensearch+http://h:9200/web")}}, hasOracles: true, want: []string{"(opensearch+http://h:9200/web, sqlite:)"}},
		{name: "a dead worker wrote to another index", s: state{Oracles: serving, Processes: []processState{writing(true, "sqlite:"), writing(false, "opensearch+http://h:9200/web")}}, hasOracles: true, want: []string{"no signs of life"}},
		{name: "a silent process", s: state{Oracles: serving, Processes: []processState{worker, silent}, Leases: []leaseState{{Name: "rank"}}}, hasOracles: true, want: []string{"process 7 on h shows no signs of life", "holds the lease rank"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.findProblems(tt.holder, tt.hasOracles, tt.hasEtcd)
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

func TestIsOfOtherDivision(t *testing.T) {
	for _, tt := range []struct {
		name   string
		shards int
		want   bool
	}{
		{"rank", 4, false}, {"garbage", 1, false},
		{"index", 1, false}, {"index", 4, true},
		{"index-0", 1, true}, {"index-3", 4, false}, {"index-4", 4, true},
	} {
		if got := isOfOtherDivision(tt.name, tt.shards); got != tt.want {
			t.Errorf("%s of %d shards: %v, want %v", tt.name, tt.shards, got, tt.want)
		}
	}
}
