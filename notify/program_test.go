package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// TestPrograms runs random programs of loaders, observers' runs, crashes and
// recoveries, in one goroutine, and then judges what is in the table by the promise
// of the paper (program_judge_test.go). Concurrency is nested: an instruction can
// happen in the middle of the next run, or between two steps of the next commit. A
// program that fails is shrunk and printed.
func TestPrograms(t *testing.T) {
	programs := 500
	if testing.Short() {
		programs = 100
	}
	rng := testenv.Random(t)
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		for range programs {
			prog := randomProgram(rng)
			err := execute(t, mode, prog)
			if err == nil {
				continue
			}
			prog = shrink(prog, func(p []instr) bool { return execute(t, mode, p) != nil })
			t.Fatalf("mode %v: %v\nthe shortest program that fails: %v\n%v", mode, err, execute(t, mode, prog), listing(prog))
		}
	}
}

// instr is one instruction. Any value of its numbers has a meaning, so that a program
// without some of its instructions is still a program.
type instr struct {
	op   string
	a, b int
}

// Instructions, by how often they are drawn.
var ops = strings.Fields(`write write write write pair pair notify notify step step step step step step oldest oldest
	crash at at at during during read fail restart mute tell age`)

// What can be done in the middle of something else.
var nested = []string{"write", "read", "step", "notify"}

// stepNames are the edges of both protocols (txn/steps.go).
var stepNames = strings.Fields("prewrite commit-ts notify commit-primary commit-secondary unnotify handover commit-batch")

func randomProgram(rng *rand.Rand) []instr {
	prog := make([]instr, 5+rng.IntN(40))
	for i := range prog {
		prog[i] = instr{ops[rng.IntN(len(ops))], rng.IntN(64), rng.IntN(64)}
	}
	return prog
}

func listing(prog []instr) string {
	var b strings.Builder
	for _, in := range prog {
		fmt.Fprintf(&b, "\t%s %d %d\n", in.op, in.a, in.b)
	}
	return b.String()
}

// shrink takes out pieces, the larger ones first, as long as the rest still fails.
func shrink(prog []instr, fails func([]instr) bool) []instr {
	for size := len(prog) / 2; size > 0; {
		shorter := false
		for i := 0; i+size <= len(prog); {
			rest := append(append([]instr(nil), prog[:i]...), prog[i+size:]...)
			if fails(rest) {
				prog, shorter = rest, true
			} else {
				i++
			}
		}
		if !shorter || size > len(prog) {
			size /= 2
		}
	}
	return prog
}

// machine runs a program.
type machine struct {
	table   store.Table
	mode    txn.Mode
	db      *txn.DB
	p       *Pipeline
	s       *Stepper
	crashAt string
	at      string // the step at which then happens
	then    func() // nil: nothing is armed
	during  func() // happens in the next run
	fail    bool   // the next run fails
	muted   bool   // commits hand nothing over
	unheard []txn.Notification
	loaded  []load
}

// load is a transaction of a loader, with the rows that it wrote or notified.
type load struct {
	rows []string
	err  error
}

func execute(t *testing.T, mode txn.Mode, prog []instr) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{table: openMem(t), mode: mode}
		if err = m.restart(); err != nil {
			return
		}
		for _, in := range prog {
			if err = m.do(in); err != nil {
				return
			}
			m.p.queue.checkInvariants(t)
		}
		// From here on nothing goes wrong. Half of the programs have a last restart. In the others,
		// a commit that has crashed may have left locks of this process, which is alive: they can
		// be resolved when they are old, and a Stepper does not wait between two attempts.
		m.crashAt, m.then, m.during, m.fail, m.muted = "", nil, nil, false, false
		if len(prog)%2 == 0 {
			err = m.restart()
		} else {
			err = m.do(instr{op: "age"})
		}
		if err != nil {
			return
		}
		if err = m.s.Drain(context.Background(), nil); err == nil {
			err = m.judge()
		}
		err = errors.Join(err, m.p.Stop(), m.db.Close())
	})
	return err
}

// restart is a new process on the same table.
func (m *machine) restart() error {
	if m.p != nil {
		if err := errors.Join(m.p.Stop(), m.db.Close()); err != nil {
			return err
		}
	}
	registry, err := NewRegistry(m.observers()...)
	if err != nil {
		return err
	}
	m.unheard = nil
	m.p = New(registry, Options{Attempts: 1000, Capacity: 4})
	ctx := context.Background()
	m.db, err = txn.Open(ctx, m.table, txn.Options{Mode: m.mode, Observers: registry.Observers, Handover: m.hear, Step: m.step})
	if err != nil {
		return err
	}
	m.s, err = NewStepper(ctx, m.p, m.db)
	return err
}

func (m *machine) hear(notes []txn.Notification) {
	if m.muted {
		m.unheard = append(m.unheard, notes...)
		return
	}
	m.p.Handover(notes)
}

func (m *machine) step(name string, _ txn.Cell) error {
	if then := m.then; then != nil && name == m.at {
		m.then = nil
		then()
	}
	if name == m.crashAt {
		m.crashAt = ""
		return txn.ErrCrash
	}
	return nil
}

var rowNames = []string{"a", "b", "c"}

func rowOf(i int) string { return rowNames[i%len(rowNames)] }

// do carries out an instruction. Errors are those of the machine; transactions may
// fail.
func (m *machine) do(in instr) error {
	ctx := context.Background()
	switch in.op {
	case "write":
		m.load(func(tx *txn.Txn) { tx.Set(rowOf(in.a), col("x"), []byte("v")) }, rowOf(in.a))
	case "pair":
		m.load(func(tx *txn.Txn) {
			tx.Set(rowOf(in.a), col("x"), []byte("v"))
			tx.Set(rowOf(in.a+1), col("x"), []byte("v"))
		}, rowOf(in.a), rowOf(in.a+1))
	case "notify":
		m.load(func(tx *txn.Txn) { tx.Notify(rowOf(in.a), col("x")) }, rowOf(in.a))
	case "step":
		_, err := m.s.Step(ctx, func(n int) int { return in.a % n })
		return err
	case "oldest":
		_, err := m.s.Step(ctx, nil)
		return err
	case "crash":
		m.crashAt = stepNames[in.a%len(stepNames)]
	case "at":
		m.at, m.then = stepNames[in.a%len(stepNames)], m.nest(in.b)
	case "during":
		m.during = m.nest(in.b)
	case "read": // by another transaction, which resolves locks
		tx, err := m.db.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		_, err = tx.Get(ctx, rowOf(in.a), col("x"))
		return err
	case "fail":
		m.fail = true
	case "restart":
		return m.restart()
	case "mute":
		m.muted = !m.muted
	case "tell":
		notes := m.unheard
		m.unheard = nil
		m.p.Handover(notes)
	case "age": // locks of dead transactions of this process become old
		time.Sleep(11 * time.Second)
	}
	return nil
}

// nest is an instruction to be carried out in the middle of something.
func (m *machine) nest(b int) func() {
	return func() { _ = m.do(instr{nested[b%len(nested)], b / len(nested), 0}) }
}

// load runs a loader's transaction. It writes a mark of its own, by which the judge
// knows whether and when it committed.
func (m *machine) load(write func(*txn.Txn), rows ...string) {
	ctx := context.Background()
	id := len(m.loaded)
	m.loaded = append(m.loaded, load{rows: rows})
	tx, err := m.db.Begin(ctx)
	if err == nil {
		defer tx.Rollback()
		write(tx)
		tx.Set(fmt.Sprintf("mark/%04d", id), col("mark"), []byte("v"))
		_, err = tx.Commit(ctx)
	}
	m.loaded[id].err = err
}

// observers: two strong ones and a weak one of x, and one of y, which first writes.
// Each run records itself in its transaction.
func (m *machine) observers() []Observer {
	observer := func(name, column string, weak bool, batch int) Observer {
		return Observer{Name: name, Watches: col(column), Weak: weak, Batch: batch, Run: func(ctx context.Context, tx *txn.Txn, rows []string) error {
			for _, row := range rows {
				if _, err := tx.Get(ctx, row, col(column)); err != nil {
					return err
				}
				tx.Set(fmt.Sprintf("run/%s/%s/%020d", name, row, tx.Start()), col("run"), []byte("v"))
				if name == "first" {
					tx.Set(row, col("y"), []byte("v"))
				}
			}
			if then := m.during; then != nil {
				m.during = nil
				then()
			}
			if m.fail {
				m.fail = false
				return errors.New("now and then")
			}
			return nil
		}}
	}
	return []Observer{
		observer("first", "x", false, 1), observer("second", "x", false, 2), observer("weak", "x", true, 2), observer("down", "y", false, 1),
	}
}
