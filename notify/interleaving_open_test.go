package notify

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/txn"
)

// open starts a new process on the story's table.
func (s *story) open(d *datadriven.TestData) error {
	s.stop()
	opts := Options{Workers: 1}
	mode := txn.Auto
	s.opened = time.Time{}
	for _, a := range d.CmdArgs {
		value := ""
		if len(a.Vals) > 0 {
			value = a.Vals[0]
		}
		n, _ := strconv.Atoi(value)
		switch a.Key {
		case "workers":
			opts.Workers = n
		case "attempts":
			opts.Attempts = n
		case "capacity":
			opts.Capacity = n
		case "backlog":
			opts.Backlog = n
		case "rescan":
			opts.Rescan, _ = time.ParseDuration(value)
		case "mode":
			mode = txn.TwoPhase
		case "times":
			s.opened = time.Now()
		}
	}
	s.gates, s.faults, s.txns = make(map[string]chan string), make(map[string]*fault), make(map[string]*txn.Txn)
	s.crashAt, s.stopAt, s.withheld, s.goOn = "", "", nil, make(chan struct{})
	opts.Events, s.many = s.events(""), opts.Workers > 1
	s.lines, s.hear = slices.Collect(strings.Lines(d.Input)), "first"
	registry, err := s.registry("")
	if err != nil {
		return err
	}
	p := New(registry, opts)
	db, err := txn.Open(context.Background(), s.table, txn.Options{
		Mode: mode, Observers: registry.Observers, Handover: func(n []txn.Notification) { s.handover(p, n) }, Step: s.step,
	})
	if err != nil {
		return err
	}
	s.p, s.db = p, db
	return p.Start(context.Background(), db)
}

// stop lets everything end. Runs that are blocked end well, transactions that
// stopped at a step die there. No run begins meanwhile: the queues are closed first.
func (s *story) stop() {
	if s.p == nil {
		return
	}
	s.p.queue.close()
	if s.peer != nil {
		s.peer.queue.close()
	}
	s.mu.Lock()
	for name, gate := range s.gates {
		close(gate)
		delete(s.gates, name)
	}
	s.mu.Unlock()
	close(s.goOn)
	s.leave()
	if err := s.p.Stop(); err != nil {
		s.say("stopped: %v", err)
	}
	s.work.Wait()
	if err := s.db.Close(); err != nil {
		s.say("close: %v", err)
	}
	s.p = nil
}

func (s *story) handover(p *Pipeline, notes []txn.Notification) {
	s.mu.Lock()
	for _, n := range notes {
		s.acks[n.Cell] = true
	}
	if s.later {
		s.withheld = append(s.withheld, notes...)
		notes = nil
	}
	hear, peer := s.hear, s.peer
	s.mu.Unlock()
	if hear == "first" || hear == "both" {
		p.Handover(notes)
	}
	if peer != nil && (hear == "second" || hear == "both") {
		peer.Handover(notes)
	}
}

// step stops a commit, or crashes it, before a step.
func (s *story) step(name string, _ txn.Cell) error {
	s.mu.Lock()
	stop, crash := name == s.stopAt, name == s.crashAt
	if stop {
		s.stopAt = ""
	}
	if crash {
		s.crashAt = ""
	}
	s.mu.Unlock()
	if stop {
		s.say("stopped before %s", name)
		_, alive := <-s.goOn
		crash = crash || !alive
	}
	if crash {
		s.say("crash before %s", name)
		return txn.ErrCrash
	}
	return nil
}

func (s *story) events(who string) Events {
	return Events{
		Ran: func(o string, rows int, _ time.Duration) { s.say("%s%s: committed, %d rows", who, o, rows) },
		Conflict: func(o string, rows []string, err error) {
			s.say("%s%s: %v met a conflict: %v", who, o, rows, conflictText(err))
		},
		Failed: func(o string, rows []string, n int, err error) {
			s.say("%s%s: %v failed, attempt %d: %s", who, o, rows, n, firstLine(err.Error()))
		},
		Dead:     func(o, row string, err error) { s.say("%s%s: gave up on %s: %s", who, o, row, firstLine(err.Error())) },
		Orphaned: func(o, row string) { s.say("notification of %s at %s removed", o, row) },
	}
}

// conflictText leaves out the timestamp.
func conflictText(err error) string {
	text, _, _ := strings.Cut(err.Error(), " at ")
	return text
}

// registry makes the observers; what they say begins with who.
func (s *story) registry(who string) (*Registry, error) {
	var list []Observer
	for _, line := range s.lines {
		list = append(list, s.observer(who, strings.Fields(line)))
	}
	return NewRegistry(list...)
}

// observer makes an observer from its line.
func (s *story) observer(who string, f []string) Observer {
	o := Observer{Name: f[0], Watches: col(f[1])}
	var sets, wakes, tells string
	parts := 0 // runs that a row takes, all but the last of which ask for another
	var mu sync.Mutex
	done := make(map[string]int) // runs of each row
	for _, a := range f[2:] {
		k, v, _ := strings.Cut(a, "=")
		switch k {
		case "weak":
			o.Weak = true
		case "batch":
			o.Batch, _ = strconv.Atoi(v)
		case "debounce":
			o.Debounce, _ = time.ParseDuration(v)
		case "upstream":
			o.Upstream = strings.Split(v, ",")
		case "maxopen":
			o.MaxOpen, _ = strconv.Atoi(v)
		case "parts":
			parts, _ = strconv.Atoi(v)
		case "sets":
			sets = v
		case "wakes":
			wakes = v
		case "tells":
			tells = v
		}
	}
	o.Run = func(ctx context.Context, tx *txn.Txn, rows []string) error {
		var saw []string
		for _, row := range rows {
			v, err := tx.Get(ctx, row, o.Watches)
			if err != nil {
				return err
			}
			saw = append(saw, row+"="+string(v.Data))
			if sets != "" {
				tx.Set(row, col(sets), v.Data)
			}
			if wakes != "" {
				tx.Notify(row, col(wakes))
			}
			mu.Lock()
			done[row]++
			more := parts > 0 && done[row]%parts != 0
			mu.Unlock()
			if more {
				tx.Continue(row, o.Watches)
			}
			if other, column, ok := strings.Cut(tells, ":"); ok {
				tx.Notify(other, col(column))
			}
		}
		s.say("%s%s: run on %s", who, o.Name, strings.Join(saw, " "))
		if err := s.atGate(strings.TrimSpace(who + o.Name)); err != nil {
			return err
		}
		return s.faultOf(o.Name, rows)
	}
	return o
}

func (s *story) atGate(observer string) error {
	s.mu.Lock()
	gate := s.gates[observer]
	s.mu.Unlock()
	if gate == nil {
		return nil
	}
	return verdict(<-gate)
}

func (s *story) faultOf(observer string, rows []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		if f := s.faults[observer+" "+row]; f != nil && f.n > 0 {
			f.n--
			return f.err
		}
	}
	return nil
}
