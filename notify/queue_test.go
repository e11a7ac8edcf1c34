package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/txn"
)

// TestQueueLosesNothing drives a queue through random histories of everything that
// can happen to it, next to a map of the pending work, and then works it
// off: at the end nothing may be left in the map, without any scan unless the queue
// says that it overflowed.
func TestQueueLosesNothing(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(100, 400, 4000))) {
		synctest.Test(t, func(t *testing.T) {
			m, err := newModel(rand.New(rand.NewPCG(seed, 1)))
			if err != nil {
				t.Fatal(err)
			}
			for range 300 {
				m.step()
				m.q.checkInvariants(t)
			}
			if err := m.workOff(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m.q.checkInvariants(t)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// model is a queue with what surrounds it.
type model struct {
	q       *queue
	random  *rand.Rand
	clock   uint64
	pending map[key]uint64     // the notify column: newest notification that no committed run has covered
	late    []txn.Notification // not handed over yet
	runs    []modelRun         // under way
}

type modelRun struct {
	batch []*entry
	start uint64
}

func newModel(random *rand.Rand) (*model, error) {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	registry, err := NewRegistry(
		Observer{Name: "a", Watches: col("x"), Run: nop, Batch: 1 + random.IntN(4)},
		Observer{Name: "b", Watches: col("y"), Run: nop, Debounce: time.Duration(random.IntN(3)) * time.Second, Upstream: []string{"a"}, Batch: 1 + random.IntN(4), MaxOpen: random.IntN(3)},
		Observer{Name: "c", Watches: col("x"), Run: nop, Debounce: time.Duration(random.IntN(3)) * time.Second, IdleAfter: time.Duration(random.IntN(2)) * 100 * time.Millisecond, Upstream: []string{"b"}, MaxOpen: random.IntN(3), Spare: random.IntN(2) == 0},
	)
	if err != nil {
		return nil, err
	}
	return &model{q: newQueue(registry, 3+random.IntN(12)), random: random, clock: 10, pending: make(map[key]uint64)}, nil
}

// step lets something happen.
func (m *model) step() {
	switch m.random.IntN(8) {
	case 0, 1: // a transaction commits; the handover comes later
		n := m.notify(key{m.random.IntN(3), fmt.Sprint(m.random.IntN(8))})
		n.Continues, n.Deferrable = m.random.IntN(10) == 0, m.random.IntN(2) == 0
		m.late = append(m.late, n)
	case 2, 3:
		m.handOver()
	case 4:
		m.q.mu.Lock()
		batch := m.q.take()
		if batch == nil && m.q.releaseSpare() {
			batch = m.q.take()
		}
		m.q.mu.Unlock()
		if batch != nil {
			m.begin(batch)
		}
	case 5, 6:
		if len(m.runs) > 0 {
			m.end(m.random.IntN(len(m.runs)), m.random.IntN(3) > 0)
		}
	case 7:
		time.Sleep(time.Duration(m.random.IntN(500)) * time.Millisecond)
		m.q.release(time.Now())
		if m.q.overflow && m.random.IntN(3) == 0 {
			m.scan()
		}
	}
}

// notify puts a notification into the table.
func (m *model) notify(k key) txn.Notification {
	m.clock++
	m.pending[k] = m.clock
	return m.notification(k)
}

func (m *model) notification(k key) txn.Notification {
	o := m.q.registry.list[k.observer]
	return txn.Notification{Cell: txn.Cell{Row: k.row, Column: o.Watches}, Observer: o.Name, TS: m.pending[k]}
}

// scan tells the queue what is in the table.
func (m *model) scan() {
	m.q.clearOverflow()
	for k := range m.pending {
		m.q.add([]txn.Notification{m.notification(k)}, true)
	}
}

// handOver hands over one of the late notifications.
func (m *model) handOver() {
	if len(m.late) > 0 {
		i := m.random.IntN(len(m.late))
		m.q.add(m.late[i:i+1], false)
		m.late = slices.Delete(m.late, i, i+1)
	}
}

func (m *model) begin(batch []*entry) {
	m.clock++
	m.runs = append(m.runs, modelRun{batch, m.clock})
}

func (m *model) end(i int, commit bool) {
	r := m.runs[i]
	m.runs = slices.Delete(m.runs, i, i+1)
	if !commit {
		for _, e := range r.batch {
			e.most = m.random.IntN(3)
		}
		m.q.requeue(r.batch, time.Duration(m.random.IntN(2000))*time.Millisecond)
		return
	}
	for _, e := range r.batch {
		e.covered = r.start
		if m.random.IntN(4) == 0 { // the run asks for another one
			n := m.notify(e.key)
			n.Continues = true
			m.q.add([]txn.Notification{n}, false)
		}
		if m.pending[e.key] <= r.start {
			delete(m.pending, e.key)
		}
	}
	m.q.finished(r.batch)
}

// workOff hands over what is late, ends all runs, and makes those that the queue asks for.
// Only if it overflowed is it told what is in the table, as by a scan.
func (m *model) workOff() error {
	for len(m.late) > 0 {
		m.handOver()
	}
	for range 10_000 {
		if len(m.runs) > 0 {
			m.end(0, true)
			continue
		}
		m.q.release(time.Now())
		m.q.mu.Lock()
		batch, overflow, left := m.q.take(), m.q.overflow, len(m.q.entries)
		m.q.mu.Unlock()
		switch {
		case batch != nil:
			m.begin(batch)
		case left > 0: // all delayed: their time comes
			time.Sleep(100 * time.Millisecond)
		case overflow:
			m.scan()
		case len(m.pending) > 0:
			return fmt.Errorf("lost: %v", m.pending)
		default:
			return nil
		}
	}
	return fmt.Errorf("no end; left to do: %v", m.pending)
}

// Rows come oldest first, and a row that is notified without end does not keep
// others waiting.
func TestOldestFirst(t *testing.T) {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	registry, err := NewRegistry(Observer{Name: "a", Watches: col("x"), Run: nop}, Observer{Name: "b", Watches: col("y"), Run: nop})
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(registry, 100)
	add := func(observer string, column, row string, ts uint64) {
		q.add([]txn.Notification{{Cell: txn.Cell{Row: row, Column: col(column)}, Observer: observer, TS: ts}}, false)
	}
	add("a", "x", "busy", 1)
	add("b", "y", "waiting", 2)
	var order string
	for ts := uint64(3); ts < 6; ts++ {
		batch := q.take()
		add("a", "x", "busy", ts)
		order += batch[0].row + " "
		batch[0].covered = ts - 1
		q.finished(batch)
	}
	if want := "busy waiting busy "; order != want {
		t.Errorf("order %q, want %q", order, want)
	}
}

func TestRecentRunsForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nop := func(context.Context, *txn.Txn, []string) error { return nil }
		registry, err := NewRegistry(Observer{Name: "a", Watches: col("x"), Run: nop, Debounce: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		q := newQueue(registry, 50)
		for i := range 10_000 {
			q.noteRun(&entry{key: key{0, fmt.Sprint(i)}}, time.Now())
			time.Sleep(time.Millisecond)
		}
		r := &q.lastRuns[0]
		if n := len(r.young) + len(r.old); n > 100 {
			t.Errorf("%d rows remembered", n)
		}
		if _, ok := r.of("9999"); !ok {
			t.Error("the last run is forgotten")
		}
		if _, ok := r.of("0"); ok {
			t.Error("the first run is remembered")
		}
	})
}
