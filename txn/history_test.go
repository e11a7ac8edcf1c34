package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/store"
)

// The histories in testdata/history are transactions written down step by step:
// what each command says, if anything, and then the whole table, if it changed,
// with one line for each timestamp of each cell and a star at what is new. A
// record "v @ 16" is the value v, written by the transaction that started at 16.
// Commands, one a line:
//
//	open [observe=(column,observer,…)] [inline=n]   a new process on the table
//	begin T…                          start transactions
//	at T ts                           a transaction that reads at a timestamp
//	get T row column                  also: getforupdate T row column, getrow T row, scan T [start [end]]
//	set T row column value            also: delete T row column, notify T row column
//	answer T row column observer ts [weak]   T is a run of the observer
//	acked T row column observer
//	commit T [until=step [cell=row]]  up to a step, or to the end; repeat it to continue
//	crash T                           the process of T dies where it stopped
//	fail T                            the step T stopped at fails
//	rollback T
//	prewrite T row column             a prewrite that was on its way arrives
//	resolve row column                deal with the lock there
//	erase row column ts               lose the lock and data of a cell
//	advance duration                  wait
//	notifications                     list them
//	forget row column observer ts
//	collect                           collect garbage
//	pin name ts, unpin name
//
// -rewrite writes the results anew.
func TestHistory(t *testing.T) {
	for _, m := range modes {
		dir := filepath.Join("testdata", "history", m.name)
		t.Run(m.name, func(t *testing.T) {
			datadriven.Walk(t, dir, func(t *testing.T, path string) {
				t.Run("mem", func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { runHistory(t, path, m.mode, openMem(t, Groups("app")), true) })
				})
				t.Run("badger", func(t *testing.T) {
					script, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(string(script), "\nadvance") {
						t.Skip("time is not ours on this engine")
					}
					runHistory(t, path, m.mode, openBadger(t, Groups("app")), false)
				})
			})
		})
	}
}

func runHistory(t *testing.T, path string, mode Mode, table store.Table, bubble bool) {
	ctx, cancel := context.WithCancel(context.Background())
	h := &history{t: t, ctx: ctx, mode: mode, table: table, bubble: bubble, print: printer{table: table}}
	defer closeTable(t, table)
	defer h.work.Wait()
	defer cancel()
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			out.WriteString(h.line(d, strings.TrimSpace(line)))
		}
		changed, err := h.print.changed()
		if err != nil {
			t.Fatal(err)
		}
		return out.String() + changed
	})
	h.die()
}

// line runs one command and returns what it says, if anything.
func (h *history) line(d *datadriven.TestData, line string) string {
	cmd, args, err := datadriven.ParseLine(line)
	if err != nil {
		d.Fatalf(h.t, "%s: %v", line, err)
	}
	out, err := h.command(cmd, args)
	if err != nil {
		out = "error: " + err.Error()
	}
	if out == "" {
		return ""
	}
	return line + ": " + out + "\n"
}

// history runs the commands.
type history struct {
	t      *testing.T
	ctx    context.Context
	mode   Mode
	table  store.Table
	bubble bool // inside synctest
	print  printer
	told   []Notification // handed over by the last commit

	db       *DB
	sessions map[string]*session
	names    []string
	running  *session // whose commit is not stopped
	work     sync.WaitGroup
}

func (h *history) command(cmd string, args []datadriven.CmdArg) (string, error) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i].Key
		}
		return ""
	}
	cell := func(i int) Cell { return Cell{arg(i), app(arg(i + 1))} }
	ts := func(i int) uint64 { n, _ := strconv.ParseUint(arg(i), 10, 64); return n }
	switch cmd {
	case "open":
		return h.open(args)
	case "begin":
		return h.begin(args)
	case "advance":
		return h.advance(arg(0))
	case "resolve":
		return "", h.db.clearLock(h.ctx, arg(0), app(arg(1)))
	case "erase":
		return "", h.table.Apply(h.ctx, []store.RowMutation{{Row: []byte(arg(0)), Mutations: []store.Mutation{
			{Op: store.Delete, Group: lockGroup, Column: sideColumn(app(arg(1))), TS: ts(2)},
			{Op: store.Delete, Group: "app", Column: recordColumn(kindData, arg(1)), TS: ts(2)},
		}}})
	case "notifications":
		return h.notifications()
	case "forget":
		return "", h.db.Forget(h.ctx, Notification{Cell: cell(0), Observer: arg(2), TS: ts(3)})
	case "collect":
		return h.collect()
	case "pin":
		_, err := h.db.Pin(h.ctx, Pin{Name: arg(0), TS: ts(1), Owner: "a story"})
		return "", err
	case "unpin":
		return "", h.db.Unpin(h.ctx, arg(0))
	case "at":
		h.add(arg(0), h.db.At(ts(1)))
		return "", nil
	}
	s := h.sessions[arg(0)]
	if s == nil {
		return "", fmt.Errorf("%s: no transaction %q", cmd, arg(0))
	}
	switch cmd {
	case "set":
		s.tx.Set(arg(1), app(arg(2)), []byte(arg(3)))
	case "delete":
		s.tx.Delete(arg(1), app(arg(2)))
	case "notify":
		s.tx.Notify(arg(1), app(arg(2)))
	case "answer":
		s.tx.AddTrigger(Trigger{Cell: cell(1), Observer: arg(3), TS: ts(4), Strong: arg(5) != "weak"})
	case "rollback":
		s.tx.Rollback()
	case "get", "getforupdate", "getrow", "scan", "acked":
		return h.do(s, func() (string, error) { return h.read(s.tx, cmd, arg) }), nil
	case "prewrite":
		c := s.tx.plan()
		w := slices.IndexFunc(slices.Concat([]*write{c.primary}, c.others), func(w *write) bool { return w.cell == cell(1) })
		return "prewritten", c.prewriteRow(h.ctx, slices.Concat([]*write{c.primary}, c.others)[w:w+1])
	case "commit":
		return h.commit(s, args)
	case "crash":
		s.crashed = true
		return h.resume(s, ErrCrash), nil
	case "fail":
		return h.resume(s, errors.New("the step failed")), nil
	default:
		return "", fmt.Errorf("unknown command %q", cmd)
	}
	return "", nil
}

func (h *history) open(args []datadriven.CmdArg) (string, error) {
	h.die()
	opts := Options{Mode: h.mode, Step: h.step, sizes: oracleSizes{allocated: 100}}
	observers := make(map[string][]string)
	for _, a := range args {
		switch a.Key {
		case "observe":
			for i := 0; i+1 < len(a.Vals); i += 2 {
				observers[a.Vals[i]] = append(observers[a.Vals[i]], a.Vals[i+1])
			}
		case "inline":
			opts.inline, _ = strconv.Atoi(a.Vals[0])
		}
	}
	opts.Handover = func(notes []Notification) { h.told = notes }
	opts.Observers = func(c Column) []string { return observers[c.Name] }
	h.sessions, h.names = make(map[string]*session), nil
	var err error
	h.db, err = Open(h.ctx, h.table, opts)
	return "", err
}

func (h *history) add(name string, tx *Txn) *session {
	s := &session{name: name, tx: tx, said: make(chan said, 1), goOn: make(chan error)}
	h.sessions[name] = s
	h.names = append(h.names, name)
	return s
}

func (h *history) begin(args []datadriven.CmdArg) (string, error) {
	var out []string
	for _, a := range args {
		tx, err := h.db.Begin(h.ctx)
		if err != nil {
			return "", err
		}
		h.add(a.Key, tx)
		out = append(out, fmt.Sprint(tx.Start()))
	}
	return strings.Join(out, " "), nil
}

func (h *history) read(tx *Txn, cmd string, arg func(int) string) (string, error) {
	var out []string
	row := func(r string, cols []Version) error {
		for _, v := range cols {
			out = append(out, fmt.Sprintf("%s %s is %s", r, v.Name, showValue(v.Value)))
		}
		return nil
	}
	switch cmd {
	case "get":
		v, err := tx.Get(h.ctx, arg(1), app(arg(2)))
		return showValue(v), err
	case "getforupdate":
		v, err := tx.GetForUpdate(h.ctx, arg(1), app(arg(2)))
		return showValue(v), err
	case "getrow":
		cols, err := tx.GetRow(h.ctx, arg(1), "app")
		if err != nil {
			return "", err
		}
		err = row(arg(1), cols)
		return listed(out), err
	case "acked":
		ack, err := tx.Acknowledged(h.ctx, Cell{arg(1), app(arg(2))}, arg(3))
		return fmt.Sprint(ack), err
	}
	err := tx.Scan(h.ctx, "app", arg(1), arg(2), row)
	return listed(out), err
}

func listed(out []string) string {
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

func showValue(v Value) string {
	switch {
	case !v.Exists:
		return "nothing"
	case v.TS == 0:
		return short(v.Data) + " (own)"
	}
	return fmt.Sprintf("%s of %d", short(v.Data), v.TS)
}

func (h *history) notifications() (string, error) {
	notes, _, err := h.db.Notifications(h.ctx, "", 0)
	return showNotes(notes), err
}

func showNotes(notes []Notification) string {
	var out []string
	for _, n := range notes {
		out = append(out, fmt.Sprintf("%s of %s %s at %d", n.Observer, n.Cell.Row, n.Cell.Name, n.TS))
	}
	return listed(out)
}

// collect is the command of that name in a history: a full collection by a
// caller that knows that no worker has a notification.
func (h *history) collect() (string, error) {
	got, err := h.db.Collect(h.ctx, CollectOptions{Queue: idle{}})
	if err != nil {
		return "", err
	}
	out := []string{fmt.Sprintf("up to %d", got.SafePoint)}
	for _, c := range []struct {
		n    int
		what string
	}{
		{got.Locks, "locks resolved"}, {got.Versions, "versions"}, {got.Deletions, "deletions"},
		{got.Rollbacks, "rollbacks"}, {got.LockOnly, "lock records"}, {got.Acks, "acknowledgements"},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprint(c.n, " ", c.what))
		}
	}
	return strings.Join(out, ", "), nil
}

// idle is a Queue without rows.
type idle struct{}

func (idle) PauseScans(fn func(waiting func(row, observer string) bool) error) error {
	return fn(func(string, string) bool { return false })
}
