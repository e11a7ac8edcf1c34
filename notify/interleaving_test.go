package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The interleavings in testdata/interleaving are stories about workers and
// notifications. Time is synctest's: a command ends when nothing more happens
// without another command or more time. What happened is printed; with several
// workers, who do it at the same time, or with the argument sorted, in the order
// of the lines. Commands:
//
//	open [workers=1] [attempts=n] [capacity=n] [backlog=n] [rescan=d] [mode=twophase] [times]
//	    name column [weak] [batch=n] [hold=d] [sets=column] [wakes=column] [tells=row:column]
//	  a new process with these observers on the same table. An observer prints
//	  what its column holds. times: print when things happen, in s since open
//	stop                              let runs end, and stop
//	workers n                         SetWorkers
//	join; leave                       a second pipeline on the same table, with one worker: story_peer_test.go
//	hear first|second|both|none       whom commits tell from now on
//	write row column value            a transaction; with later: without handover
//	wake row column                   a weak notification; with later: the same
//	tell                              hand over what was kept back by later
//	begin T; set T row column value; notify T row column
//	commit T [until=step]             stops before that step; go-on T continues
//	read row column                   a read by another transaction, which resolves locks
//	answer lost|none|late             the outcome of the next write to the store: story_lossy_test.go
//	arrive                            what was late happens now
//	block observer                    its runs stop at their end…
//	end observer [fail|conflict|panic|fatal]   …until one of them is ended so; unblock observer
//	fail observer row n               runs with this row fail n times; conflict too
//	crash-at step                     the next commit that comes to a step dies there
//	advance d
//	table                             notifications and acknowledgements
//	locks; lose-lock row              locks in the table; one vanishes
//	dead; retry observer row; drop observer row
//	admit; quiesce                    say when they return
//	stats
func TestInterleaving(t *testing.T) {
	datadriven.Walk(t, "testdata/interleaving", tell)
}

// tell runs one story.
func tell(t *testing.T, path string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		table := &lossy{table: openMem(t).(capable)}
		s := &story{t: t, table: table, lossy: table, acks: make(map[txn.Cell]bool)}
		defer s.stop()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if err := s.command(d); err != nil {
				s.say("error: %v", err)
			}
			synctest.Wait()
			for _, p := range []*Pipeline{s.p, s.peer} {
				if p != nil {
					p.queue.checkInvariants(t)
				}
			}
			return s.said(d.Cmd == "table" || d.Cmd == "stop" || d.HasArg("sorted"))
		})
	})
}

// story runs the commands.
type story struct {
	t     *testing.T
	table store.Table
	lossy *lossy
	db    *txn.DB
	p     *Pipeline
	peer  *Pipeline // after join
	lines []string  // the observers
	hear  string
	work  sync.WaitGroup

	mu       sync.Mutex
	log      []string
	commits  []string  // printed before log: Commit returns before or after the runs that it wakes begin
	opened   time.Time // with times
	gates    map[string]chan string
	faults   map[string]*fault
	later    bool
	many     bool // workers
	withheld []txn.Notification
	stopAt   string
	crashAt  string
	goOn     chan struct{}
	txns     map[string]*txn.Txn
	acks     map[txn.Cell]bool // cells that were notified ever
}

type fault struct {
	n   int
	err error
}

func (s *story) locked(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, s.line(format, args...))
}

// line is a line of the output, with the time if the story prints it. The caller holds mu.
func (s *story) line(format string, args ...any) string {
	line := fmt.Sprintf(format, args...)
	if !s.opened.IsZero() {
		line = fmt.Sprintf("%.1f s: %s", time.Since(s.opened).Seconds(), line)
	}
	return line
}

func (s *story) said(sorted bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := slices.Concat(s.commits, s.log)
	s.commits, s.log = nil, nil
	if s.many || sorted {
		slices.Sort(lines)
	}
	if len(lines) == 0 {
		return "-\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *story) command(d *datadriven.TestData) error {
	arg := func(i int) string {
		if i < len(d.CmdArgs) {
			return d.CmdArgs[i].Key
		}
		return ""
	}
	ctx := context.Background()
	s.locked(func() { s.later = d.HasArg("later") })
	switch d.Cmd {
	case "open":
		return s.open(d)
	case "stop":
		s.stop()
	case "write":
		_, err := s.db.Run(ctx, func(tx *txn.Txn) error { tx.Set(arg(0), col(arg(1)), []byte(arg(2))); return nil })
		return err
	case "wake":
		_, err := s.db.Run(ctx, func(tx *txn.Txn) error { tx.Notify(arg(0), col(arg(1))); return nil })
		return err
	case "tell":
		var notes []txn.Notification
		s.locked(func() { notes, s.withheld = s.withheld, nil })
		s.p.Handover(notes)
	case "block":
		s.locked(func() { s.gates[arg(0)] = make(chan string) })
	case "end":
		select {
		case s.gates[arg(0)] <- strings.TrimPrefix(arg(1), "sorted"):
		default:
			return errors.New("no run is blocked")
		}
	case "unblock":
		s.locked(func() { close(s.gates[arg(0)]); delete(s.gates, arg(0)) })
	case "fail", "conflict":
		n, err := strconv.Atoi(arg(2))
		s.locked(func() { s.faults[arg(0)+" "+arg(1)] = &fault{n, verdict(d.Cmd)} })
		return err
	case "crash-at":
		s.locked(func() { s.crashAt = arg(0) })
	case "advance":
		dur, err := time.ParseDuration(arg(0))
		time.Sleep(dur)
		return err
	case "begin", "set", "notify", "commit", "go-on":
		return s.transaction(d, arg)
	case "workers":
		n, err := strconv.Atoi(arg(0))
		s.p.SetWorkers(n)
		return err
	case "join", "leave", "hear", "read", "locks", "lose-lock":
		return s.peers(d.Cmd, arg)
	case "answer":
		s.lossy.next(arg(0))
	case "arrive":
		s.lossy.arrive()
	default:
		return s.look(d, arg)
	}
	return nil
}

// transaction is the commands of explicit transactions.
func (s *story) transaction(d *datadriven.TestData, arg func(int) string) (err error) {
	name, ctx := arg(0), context.Background()
	switch d.Cmd {
	case "begin":
		s.txns[name], err = s.db.Begin(ctx)
	case "set":
		s.txns[name].Set(arg(1), col(arg(2)), []byte(arg(3)))
	case "notify":
		s.txns[name].Notify(arg(1), col(arg(2)))
	case "commit":
		if d.HasArg("until") {
			s.locked(func() { d.ScanArgs(s.t, "until", &s.stopAt) })
		}
		s.work.Go(func() {
			if _, err := s.txns[name].Commit(ctx); err != nil {
				s.say("%s: %v", name, err)
				return
			}
			s.locked(func() { s.commits = append(s.commits, s.line("%s has committed", name)) })
		})
	case "go-on":
		select {
		case s.goOn <- struct{}{}:
		default:
			return errors.New("nobody has stopped")
		}
	}
	return err
}

// look is the commands that ask the pipeline something.
func (s *story) look(d *datadriven.TestData, arg func(int) string) error {
	ctx := context.Background()
	switch d.Cmd {
	case "table":
		return s.printTable(ctx)
	case "dead":
		letters, err := DeadLetters(ctx, s.db)
		for _, l := range letters {
			s.say("%s %s: %s, after %d attempts", l.Observer, l.Row, firstLine(l.Error), l.Attempts)
		}
		return err
	case "retry":
		return s.p.Retry(ctx, arg(0), arg(1))
	case "drop":
		return s.p.Drop(ctx, arg(0), arg(1))
	case "admit":
		s.work.Go(func() { s.say("admit: %s", answer(s.p.Admit(ctx), "come in")) })
	case "quiesce":
		s.work.Go(func() { _, err := s.p.Quiesce(ctx); s.say("quiesce: %s", answer(err, "nothing left to do")) })
	case "stats":
		for _, st := range s.p.Stats() {
			s.say("%s: %d runs, %d rows, %d conflicts, %d failures, %d dead, backlog %d, oldest waits %v",
				st.Observer, st.Runs, st.Rows, st.Conflicts, st.Failures, st.Dead, st.Backlog, st.OldestWait)
		}
	default:
		return fmt.Errorf("no command %q", d.Cmd)
	}
	return nil
}

func answer(err error, yes string) string {
	if err != nil {
		return err.Error()
	}
	return yes
}

func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }

// printTable prints what the table says about each cell that was ever notified.
func (s *story) printTable(ctx context.Context) error {
	notes, _, err := s.db.Notifications(ctx, "", 1000)
	if err != nil {
		return err
	}
	at := make(map[string]uint64)
	for _, n := range notes {
		at[n.Cell.String()+" "+n.Observer] = n.TS
		s.acks[n.Cell] = true
	}
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for cell := range s.acks {
		for _, o := range s.p.registry.list {
			ack, err := tx.Acknowledged(ctx, cell, o.Name)
			if err != nil {
				return err
			}
			note := at[cell.String()+" "+o.Name]
			delete(at, cell.String()+" "+o.Name)
			switch {
			case note > 0 && ack > note:
				s.say("%s of %s: notified, but acknowledged later", o.Name, cell)
			case note > 0:
				s.say("%s of %s: notified", o.Name, cell)
			case ack > 0:
				s.say("%s of %s: acknowledged", o.Name, cell)
			}
		}
	}
	for other := range at {
		s.say("%s: notified, an observer that does not exist", other)
	}
	return nil
}

func verdict(kind string) error {
	switch kind {
	case "fail":
		return errors.New("it failed")
	case "conflict":
		return &txn.ConflictError{Cell: txn.Cell{Row: "somewhere"}, Reason: "written"}
	case "fatal":
		return fmt.Errorf("the disk is gone: %w", ErrFatal)
	case "panic":
		panic("a bug")
	}
	return nil
}
