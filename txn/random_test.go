package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// TestRandom runs random transactions, interleaved by a seed down to the steps of
// their commits, against the engine and the model, and compares every answer.
//
// A commit may stop before any of its steps, while others read and write; continue
// later; be considered dead as time passes; or crash with its process.
func TestRandom(t *testing.T) {
	programs := testenv.Size(200, 800, 20_000)
	for _, s := range []struct {
		name   string
		mode   Mode
		limits store.Limits
	}{
		{"onephase", OnePhase, store.Limits{}},
		{"twophase", TwoPhase, store.Limits{}},
		{"mixed", OnePhase, store.Limits{MaxBatchBytes: 120}}, // what does not fit takes two phases
	} {
		t.Run("mem/"+s.name, func(t *testing.T) {
			everyProgram(t, programs, func(p program) (wrong, log []string) {
				synctest.Test(t, func(t *testing.T) {
					table, err := mem.New(Groups("app"), mem.Options{Limits: s.limits})
					if err != nil {
						t.Fatal(err)
					}
					wrong, log = runRandom(t, table, s.mode, p, true)
				})
				return wrong, log
			})
		})
		if s.name != "mixed" {
			t.Run("badger/"+s.name, func(t *testing.T) {
				everyProgram(t, programs/100, func(p program) (wrong, log []string) {
					return runRandom(t, openBadger(t, Groups("app")), s.mode, p, false)
				})
			})
		}
	}
}

const (
	randomRows    = 4
	randomColumns = 2
	observed      = "a" // the column that has an observer
	randomTTL     = 10 * time.Second
	randomWait    = 20 * time.Millisecond // a read or commit that finds a lock gives up after it
)

// random is one program.
type random struct {
	t          *testing.T
	rng        *rand.Rand
	table      store.Table
	db         *DB
	mode       Mode
	bubble     bool // fake time: commits can be stopped, and readers find their locks
	model      *model
	live       []*randomTxn
	dead       []*randomTxn // crashed or failed in their commit; their locks may be there still
	values     int
	log, wrong []string
	committing *randomTxn // runs, while all others are stopped
}

// randomTxn is a transaction of the program.
type randomTxn struct {
	modelTxn
	tx      *Txn
	stopAt  int // how many steps until it stops; -1 never
	stopped bool
	since   time.Time // when it stopped
	decided bool      // it is past its commit point, and the model knows
	commit  uint64    // commit timestamp, once it is known
	goOn    chan error
	said    chan error // errStopped, or what Commit said
}

var (
	errStopped    = errors.New("stopped")
	errStepFailed = errors.New("step failed")
)

// runRandom runs a program and returns what went wrong, with what was done.
func runRandom(t *testing.T, table store.Table, mode Mode, p program, bubble bool) (wrong, log []string) {
	r := &random{t: t, rng: p.rng(0), table: table, mode: mode, bubble: bubble, model: newModel()}
	defer closeTable(t, table)
	r.reopen()
	for _, step := range p {
		r.rng = program{step}.rng(0)
		r.step()
		if len(r.wrong) > 0 {
			break
		}
	}
	r.reopen()
	r.compareAll()
	r.crashAll()
	r.checkCollected()
	r.compareAll()
	r.crashAll()
	if err := r.db.Close(); err != nil {
		r.wrongf("%v", err)
	}
	return r.wrong, r.log
}

func (r *random) wrongf(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *random) logf(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *random) step() {
	if len(r.live) == 0 || (len(r.live) < 6 && r.rng.IntN(4) == 0) {
		r.begin()
		return
	}
	x := r.live[r.rng.IntN(len(r.live))]
	if x.stopped {
		switch n := r.rng.IntN(20); {
		case n < 2:
			r.resume(x, r.rng.IntN(3)-1, nil)
		case n == 4:
			r.resume(x, -1, errStepFailed)
		case n == 5:
			time.Sleep(time.Duration(r.rng.IntN(12)) * time.Second)
			r.logf("time passes")
		case n == 6 && r.rng.IntN(3) == 0:
			r.reopen()
		case n == 7:
			r.collect()
		}
		return
	}
	c := r.cell()
	switch n := r.rng.IntN(30); {
	case n < 5:
		r.get(x, c)
	case n < 6:
		r.getForUpdate(x, c)
	case n < 7:
		r.getRow(x, c.Row)
	case n < 8:
		r.prefetch(x, c)
	case n < 9:
		r.scan(x)
	case n < 17:
		r.write(x, c)
	case n < 20:
		r.answer(x, c.Row)
	case n < 21:
		r.logf("%d rolls back", x.start)
		x.tx.Rollback()
		r.drop(x)
	case n < 26:
		r.commit(x)
	case n < 27 && r.rng.IntN(10) == 0:
		r.reopen()
	case n >= 28:
		r.collect()
	}
}

func (r *random) cell() Cell {
	return Cell{fmt.Sprint("row", r.rng.IntN(randomRows)), app(string(rune('a' + r.rng.IntN(randomColumns))))}
}

// reopen starts a new process on the table.
func (r *random) reopen() {
	r.crashAll()
	r.logf("new process")
	if r.db != nil {
		if err := r.db.Close(); err != nil {
			r.wrongf("%v", err)
		}
	}
	r.db = open(r.t, r.table, Options{
		Mode: r.mode, LockTTL: randomTTL, Step: r.onStep,
		Observers: func(c Column) []string {
			if c.Name == observed {
				return []string{"observer"}
			}
			return nil
		},
	})
	r.db.gc.queue.on.Store(true) // the program takes the collector's steps
	r.compareNotifications()
}

func (r *random) crashAll() {
	for len(r.live) > 0 {
		x := r.live[0]
		if x.stopped {
			r.resume(x, -1, ErrCrash)
		} else {
			x.tx.Rollback()
			r.drop(x)
		}
	}
}

func (r *random) begin() {
	x := &randomTxn{tx: mustBegin(r.t, r.db), goOn: make(chan error), said: make(chan error)}
	x.modelTxn = modelTxn{start: x.tx.Start(), writes: make(map[Cell]modelVersion), triggers: make(map[Cell]uint64), locks: make(map[Cell]bool)}
	r.logf("%d begins", x.start)
	r.live = append(r.live, x)
}

func (r *random) drop(x *randomTxn) {
	r.live = slices.DeleteFunc(r.live, func(y *randomTxn) bool { return y == x })
}

func (r *random) write(x *randomTxn, c Cell) {
	if r.rng.IntN(5) == 0 {
		r.logf("%d deletes %s", x.start, c)
		x.tx.Delete(c.Row, c.Column)
		x.writes[c] = modelVersion{gone: true}
		return
	}
	r.values++
	v := fmt.Sprint("v", r.values)
	if r.rng.IntN(4) == 0 {
		v = fmt.Sprintf("%s%0*d", v, inlineLimit, 0) // long
		v = v[:min(len(v), r.table.Limits().MaxBatchBytes/6)]
	}
	if r.rng.IntN(8) == 0 { // whether or not it has a value
		r.logf("%d creates %s as %.8s", x.start, c, v)
		x.tx.Create(c.Row, c.Column, []byte(v))
	} else {
		r.logf("%d sets %s to %.8s", x.start, c, v)
		x.tx.Set(c.Row, c.Column, []byte(v))
	}
	x.writes[c] = modelVersion{value: v}
}

// answer makes a transaction the run of the observer, if there is a notification
// from before it began.
func (r *random) answer(x *randomTxn, row string) {
	c := Cell{row, app(observed)}
	if _, done := x.triggers[c]; done {
		return
	}
	notes, _, err := r.db.Notifications(context.Background(), row, 1)
	if err != nil {
		r.wrongf("%v", err)
	}
	if len(notes) == 0 || notes[0].Cell != c || notes[0].TS > x.start {
		return
	}
	r.logf("%d answers %s of %d", x.start, c, notes[0].TS)
	x.tx.AddTrigger(Trigger{Cell: c, Observer: "observer", TS: notes[0].TS, Strong: true})
	x.triggers[c] = notes[0].TS
}
