package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/repository"
)

// state is the JSON of status.
type state struct {
	Store     string         `json:"store"`
	Time      time.Time      `json:"time"`
	Processes []processState `json:"processes"`
	// ProcessesUnknown says that etcd does not answer, so nobody is listed as alive.
	ProcessesUnknown bool           `json:"processes_unknown,omitempty"`
	Leases           []leaseState   `json:"leases"`
	Oracles          []oracleState  `json:"oracles"`
	Backlog          map[string]int `json:"backlog"` // rows that wait, by observer
	// BacklogCut says that more rows wait than were counted.
	BacklogCut bool `json:"backlog_cut,omitempty"`
	// OldestMS is how long the oldest row has waited. In a deployment the oracle that serves
	// knows that for its own term; without one it is 0.
	OldestMS float64            `json:"oldest_notification_ms"`
	Latency  repository.Latency `json:"store_latency_ms"`
	Crawl    *crawlState        `json:"crawl,omitempty"` // nil if there is no crawl
	Problems []string           `json:"problems"`
}

// processState is a process. Alive is false if it shows no signs of life.
type processState struct {
	oracle.Process
	Alive bool `json:"alive"`
}

// leaseState is a lease, with the rows that wait for the observers that run under it: for
// the leases of index files, that is how far these are behind.
type leaseState struct {
	Name string `json:"name"`
	lease.Holder
	Alive    bool    `json:"alive"` // its holder
	Waiting  int     `json:"waiting"`
	OldestMS float64 `json:"oldest_ms"`
}

// crawlState is how the hosts of a crawl are divided among crawlers, in partitions.
type crawlState struct {
	Partitions int `json:"partitions"`
	// Free is how many of them have no holder. Their hosts are not crawled.
	Free     int            `json:"free"`
	Waiting  int            `json:"waiting"` // hosts and files that their crawlers have not noticed yet
	Crawlers []crawlerState `json:"crawlers"`
}

// crawlerState is a crawler with its share.
type crawlerState struct {
	Token string `json:"token"`
	division.State
	Alive      bool `json:"alive"`
	Partitions int  `json:"partitions"`
}

// oracleState is what an oracle says about itself.
type oracleState struct {
	Address   string  `json:"address"`
	State     string  `json:"state"` // serving, standing by, serving another store, not answering
	Term      uint64  `json:"term,omitempty"`
	ServingMS uint64  `json:"serving_ms,omitempty"`
	Last      uint64  `json:"last,omitempty"`
	Ceiling   uint64  `json:"ceiling,omitempty"`
	HandedOut uint64  `json:"handed_out,omitempty"`
	Requests  uint64  `json:"requests,omitempty"`
	PerSecond float64 `json:"per_second"`
	Locks     uint64  `json:"locks,omitempty"`
	Liveness  string  `json:"liveness,omitempty"`
	Error     string  `json:"error,omitempty"`
}

// The states of an oracle.
const (
	oracleServing = "serving"
	oracleStandby = "standing by"
	oracleForeign = "serving another store"
	oracleSilent  = "not answering"
)

func (s *state) text() string {
	t := new(table)
	t.row("store", fmt.Sprintf("%s, answers in %.2f ms (median of %s; slowest %.2f ms)",
		s.Store, s.Latency.Median, count(s.Latency.Reads, "read"), s.Latency.Greatest))
	for i, o := range s.Oracles {
		t.row(onlyFirst(i, "oracles"), o.text())
	}
	for i, p := range s.Processes {
		t.row(onlyFirst(i, "processes"), s.processText(&p))
	}
	if s.ProcessesUnknown {
		t.row("processes", "unknown")
	}
	for i, l := range s.Leases {
		t.row(onlyFirst(i, "leases"), l.text(s.Time, s.ProcessesUnknown))
	}
	for i, line := range s.Crawl.lines(s.Time, s.ProcessesUnknown) {
		t.row(onlyFirst(i, "crawl"), line)
	}
	more := ""
	if s.BacklogCut {
		more = " or more"
	}
	backlogRows(t, s.Backlog, more)
	if totalRows(s.Backlog) > 0 && s.OldestMS > 0 {
		t.row("oldest waits", progress.Duration(fromMS(s.OldestMS)))
	}
	for i, p := range s.Problems {
		t.row(onlyFirst(i, "problems"), p)
	}
	if len(s.Problems) == 0 {
		t.row("problems", "none")
	}
	return t.String()
}

// onlyFirst is the name of a list, in the row of its first item.
func onlyFirst(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

func (o *oracleState) text() string {
	switch o.State {
	case oracleServing:
		return fmt.Sprintf("%s has served for %s, term %d; %.0f timestamps/s, %s held", o.Address,
			progress.Duration(fromMS(float64(o.ServingMS))), o.Term, o.PerSecond, count(int(o.Locks), "row lock"))
	case oracleStandby:
		return o.Address + " stands by"
	case oracleForeign:
		return o.Address + " serves another store: correct the setting oracle"
	}
	return fmt.Sprintf("%s does not answer: %s", o.Address, o.Error)
}

func (s *state) processText(p *processState) string {
	text := fmt.Sprintf("%s, process %d on %s", p.Role, p.PID, p.Host)
	if p.Role == "" {
		text = fmt.Sprintf("process %d on %s", p.PID, p.Host)
	}
	if p.Place != "" {
		text += ", " + p.Place
	}
	if !p.Since.IsZero() {
		text += ", for " + progress.Duration(max(0, s.Time.Sub(p.Since)))
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(p.Rates)) {
		if p.Rates[what] > 0 {
			parts = append(parts, fmt.Sprintf("%.4g %s", p.Rates[what], what))
		}
	}
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ") + " a second"
	}
	if !p.Alive {
		text += "; SILENT"
	}
	return text
}

// lines returns a line for each crawler, and one for the partitions without a holder. unknown says
// that the crawlers may be alive or not.
func (c *crawlState) lines(now time.Time, unknown bool) (lines []string) {
	if c == nil {
		return nil
	}
	for _, one := range c.Crawlers {
		text := fmt.Sprintf("process %d on %s: %d of %d partitions", one.Process, one.Host, one.Partitions, c.Partitions)
		if one.Host == "" {
			text = fmt.Sprintf("a crawler that has ended: %d of %d partitions", one.Partitions, c.Partitions)
		}
		if !one.Since.IsZero() {
			text += ", for " + progress.Duration(max(0, now.Sub(one.Since)))
		}
		switch {
		case !one.Alive && !unknown:
			text += "; DEAD OR SILENT"
		case one.Idle:
			text += "; idle"
		}
		lines = append(lines, text)
	}
	if c.Free > 0 {
		lines = append(lines, fmt.Sprintf("no crawler: %d of %d partitions", c.Free, c.Partitions))
	}
	if c.Waiting > 0 {
		lines = append(lines, count(c.Waiting, "message")+" to crawlers waiting")
	}
	return lines
}

func (l *leaseState) text(now time.Time, unknown bool) string {
	text := fmt.Sprintf("%s: %s, for %s", l.Name, l.Place, progress.Duration(max(0, now.Sub(l.Since))))
	if l.Token == "" {
		text = l.Name + ": nobody"
	} else if !l.Alive && !unknown {
		text += "; DEAD OR SILENT"
	}
	if l.Waiting > 0 {
		text += "; " + count(l.Waiting, "row") + " waiting"
	}
	if l.OldestMS > 0 {
		text += ", the oldest for " + progress.Duration(fromMS(l.OldestMS))
	}
	return text
}
