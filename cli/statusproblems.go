package cli

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/oracle"
)

// clocksApart is how much the clocks of machines may differ (txn.Options.LockTTL). The last sign
// of life of a process that is alive is younger, by its own clock, if its token is in the table.
const clocksApart = 10 * time.Second

// problem lists a problem.
func (s *state) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

// findProblems lists what keeps a deployment from working. holder is the oracle that serves, or
// served last; hasOracles and hasEtcd say that the settings name oracles, and etcd.
func (s *state) findProblems(holder oracle.Holder, hasOracles, hasEtcd bool) {
	say := s.problem
	serving := slices.ContainsFunc(s.Oracles, func(st oracleState) bool { return st.State == oracleServing })
	switch {
	case serving:
	case hasOracles && holder.Token != "" && s.isElsewhere(holder.Address):
		say("none of the oracles that the settings name serves, so no process with these settings can commit; the last one to serve was at %s: correct the setting oracle of all processes, or start one at an address that it names", holder.Address)
	case hasOracles:
		say("none of the oracles serves, so nothing can commit: start one with `indexer oracle`")
	case holder.Token != "" && holder.Address != "":
		say("the settings name no oracle; the last one to serve was at %s: give --oracle to see how it is doing", holder.Address)
	}
	for _, o := range s.Oracles {
		switch {
		case o.State == oracleForeign:
			say("the oracle at %s serves another store: correct the setting oracle", o.Address)
		case o.State == oracleSilent && serving:
			say("the oracle at %s does not answer, so it cannot take over from the one that serves: start it again with `indexer oracle`", o.Address)
		}
	}
	if holder.Domain != "" && hasEtcd != (holder.Domain != oracle.TableDomain) {
		say("the processes of this store have their liveness tokens in %s, where this command did not look: correct the setting etcd", holder.Domain)
		return // what it knows about processes is worth nothing
	}
	if s.ProcessesUnknown {
		return
	}
	working := false
	for _, p := range s.Processes {
		working = working || p.Alive && p.Role == "indexer worker"
		if !p.Alive {
			say("process %d on %s shows no signs of life: it is stopped, cut off or dead, and others will take over its work", p.PID, p.Host)
		}
	}
	s.findWrongClocks()
	if list := s.indexes(); len(list) > 1 {
		say("the workers write to different indexes (%s), so a document is only in the index of the worker that held the lease: give all processes the same setting index", strings.Join(list, ", "))
	}
	if !working && hasOracles {
		say("no worker runs, so nothing that is loaded is indexed: start one with `indexer worker`")
	}
	for _, l := range s.Leases {
		if working && !l.Alive {
			say("no live process holds the lease %s: a worker takes it within seconds, if one offers to", l.Name)
		}
	}
}

// findWrongClocks names each machine whose clock differs too much from that of this one.
func (s *state) findWrongClocks() {
	apart := make(map[string]bool) // machines whose clocks were named
	for _, p := range s.Processes {
		off := p.Beat.Sub(s.Time)
		if p.Count > 0 { // otherwise Beat is the time of its last description, which an oracle gives once
			off = off.Abs()
		}
		if p.Alive && off > clocksApart && !apart[p.Host] {
			apart[p.Host] = true
			s.problem("the clock of %s differs from that of this machine by %s: set them; processes whose clocks differ by more than %v roll each other's transactions back", p.Host, progress.Duration(off), clocksApart)
		}
	}
}

// indexes lists the indexes that live workers write to.
func (s *state) indexes() (list []string) {
	for _, p := range s.Processes {
		if p.Alive && p.Role == "indexer worker" && p.Index != "" && !slices.Contains(list, p.Index) {
			list = append(list, p.Index)
		}
	}
	slices.Sort(list)
	return list
}

// isElsewhere reports whether an oracle that listened at an address is not among those that the
// settings name. Names do not tell, and neither does an oracle that listened on all addresses.
func (s *state) isElsewhere(address string) bool {
	last, err := netip.ParseAddrPort(address)
	return err == nil && !last.Addr().IsUnspecified() && !slices.ContainsFunc(s.Oracles, func(o oracleState) bool {
		at, err := netip.ParseAddrPort(o.Address)
		return err != nil || at == last
	})
}
