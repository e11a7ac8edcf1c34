package notify

import (
	"testing"

	"github.com/webindexer/indexer/txn"
)

// TestClaim: a process runs no row that another process has, or that was handled, and keeps no trace
// of it: the table has the notification, if there still is one.
func TestClaim(t *testing.T) {
	f := newFleet(t)
	m, other := f.join(0), f.join(0)
	m.set("row 0", "a", "0")
	first := txn.Notification{Cell: txn.Cell{Row: "row 0", Column: col("a")}, Observer: "first", TS: m.db.LastTimestamp()}
	sum := txn.Notification{Cell: txn.Cell{Row: "sum", Column: col("sum")}, Observer: "sum", TS: first.TS}
	lock := []string{lockName("first", "row 0")}
	run := func(when string, n txn.Notification, runs int) {
		t.Helper()
		m.p.queue.eager = true
		m.p.queue.add([]txn.Notification{n}, false)
		m.p.run(t.Context(), m.p.queue.pick(nil))
		if got := f.runs.n[n.Observer+" "+n.Cell.Row]; got != runs || len(m.p.queue.entries) > 0 {
			t.Errorf("%s: run %d times, want %d; %d rows are in the queue", when, got, runs, len(m.p.queue.entries))
		}
		m.p.queue.checkInvariants(t)
	}
	if got, err := other.p.shared.locks.TryLock(t.Context(), lock); err != nil || !got[0] {
		t.Fatal(got, err)
	}
	run("another process has the row", first, 0)
	m.p.queue.add([]txn.Notification{first}, false)
	taken := m.p.queue.pick(nil)
	later := first
	later.TS++
	m.p.queue.add([]txn.Notification{later}, false)
	m.p.run(t.Context(), taken)
	if !m.p.queue.has("row 0", "first") {
		t.Error("a row that was notified while another process had it is not in the queue any more")
	}
	m.p.run(t.Context(), m.p.queue.pick(nil))
	if err := other.p.shared.locks.Unlock(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	run("nobody has the row", first, 1)
	run("the row was handled", first, 1)
	f.leader.Store(other.process)
	run("another process holds the lease", sum, 0)
	m.p.queue.add([]txn.Notification{sum}, false)
	batch := m.p.queue.pick(nil)
	f.leader.Store(m.process) // again, after it had lost the lease during the run
	m.p.ended(t.Context(), &m.p.registry.list[batch[0].observer], batch, Attempt{Err: ErrNotHeld})
	if n := len(m.p.queue.entries); n > 0 {
		t.Errorf("after a run that lost the lease: %d rows are in the queue", n)
	}
	if n := f.coordinator.Locked(); n != 0 {
		t.Errorf("%d rows are still locked", n)
	}
	m.close()
	other.close()
}
