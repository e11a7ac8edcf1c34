package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// bad is a table whose connections go through a proxy, next to one with direct
// connections.
type bad struct {
	*pgtest.Proxy
	table, direct store.Table
}

func openBad(t *testing.T, opts Options) *bad {
	t.Helper()
	setting := pgtest.Shared(t).Schema(t)
	b := &bad{Proxy: pgtest.Shared(t).Proxy(t)}
	b.direct = openAt(t, setting, Options{})
	b.table = openAt(t, b.URL(t, setting), opts)
	return b
}

func openAt(t *testing.T, setting string, opts Options) store.Table {
	t.Helper()
	table, err := Open(t.Context(), setting, two, opts)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, table)
	return table
}

func put(ts uint64) store.RowMutation {
	return store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "a", TS: ts, Value: []byte("v")}}}
}

// wantCells compares how many cells the row has.
func (b *bad) wantCells(t *testing.T, n int) {
	t.Helper()
	cells, err := b.direct.Read(t.Context(), []byte("r"), store.Selector{Group: "a", Prefix: true})
	if err != nil || len(cells) != n {
		t.Errorf("%d cells, %v; want %d", len(cells), err, n)
	}
}

func wantUnknown(t *testing.T, res store.Result, err error) {
	t.Helper()
	if err == nil || res.Outcome != store.Unknown || errors.Is(err, store.ErrNotDone) {
		t.Errorf("Mutate = %v, %v; want an unknown outcome", res.Outcome, err)
	}
}

func wantNotDone(t *testing.T, res store.Result, err error) {
	t.Helper()
	if res.Outcome != store.Unknown || !errors.Is(err, store.ErrNotDone) {
		t.Errorf("Mutate = %v, %v; want ErrNotDone", res.Outcome, err)
	}
}

// TestUnknown: a Mutate whose answer is lost has happened, one whose request is lost has
// not, and neither pretends to know.
func TestUnknown(t *testing.T) {
	t.Parallel() // it waits for timeouts
	b := openBad(t, Options{Conns: 1, CallTimeout: time.Second})
	for ts := uint64(1); ts < 4; ts += 2 {
		if res, err := b.table.Mutate(t.Context(), put(ts)); err != nil || res.Outcome != store.Applied { // prepares the statement
			t.Errorf("Mutate on a new connection = %v, %v", res.Outcome, err)
		}
		b.wantCells(t, int(ts))
		if ts == 1 {
			b.HoldAnswers()
		} else {
			b.HoldRequests()
		}
		res, err := b.table.Mutate(t.Context(), put(ts+1))
		wantUnknown(t, res, err)
	}
	b.wantCells(t, 3)
}

// TestLostApply: an Apply is repeated if its outcome is unknown. If the lost attempt arrives
// late, it must not bring back cells that others have removed.
func TestLostApply(t *testing.T) {
	t.Parallel() // it waits for timeouts
	ctx := t.Context()
	b := openBad(t, Options{Conns: 1, CallTimeout: time.Second})
	if err := b.table.Apply(ctx, []store.RowMutation{put(1)}); err != nil { // the statement is prepared
		t.Fatal(err)
	}
	b.HoldRequests()
	if err := b.table.Apply(ctx, []store.RowMutation{put(2)}); err != nil {
		t.Fatal(err)
	}
	b.wantCells(t, 2)
	if err := b.direct.Apply(ctx, []store.RowMutation{{Row: []byte("r"), Mutations: []store.Mutation{{Op: store.DeleteUpTo, Group: "a", TS: 2}}}}); err != nil {
		t.Fatal(err)
	}
	b.Release()
	// The advisory lock of the row makes this wait for whatever arrived before it.
	if _, err := b.direct.Mutate(ctx, put(3)); err != nil {
		t.Fatal(err)
	}
	b.wantCells(t, 1)
}

// TestReadsGoOn: reads and scans are repeated when their connection breaks.
func TestReadsGoOn(t *testing.T) {
	b := openBad(t, Options{})
	if err := b.direct.Apply(t.Context(), []store.RowMutation{put(1)}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cells, err := b.table.Read(t.Context(), []byte("r"), store.Selector{Group: "a"})
		if err != nil || len(cells) != 1 {
			t.Errorf("%v, %v", cells, err)
		}
		n := 0
		next, err := b.table.Scan(t.Context(), store.Range{Group: "a"}, func(store.Cell) error { n++; return nil })
		if err != nil || next != nil || n != 1 {
			t.Errorf("%d cells, %q, %v", n, next, err)
		}
		b.Cut()
	}
}

// TestLostScan: a scan is repeated if its request or its answer is lost and its connection stays.
func TestLostScan(t *testing.T) {
	t.Parallel() // it waits for timeouts
	b := openBad(t, Options{CallTimeout: 400 * time.Millisecond})
	for _, p := range pools(b.table) {
		if p.Config().PingTimeout == 0 { // pgx tries an idle connection before a call gets it
			t.Error("a lost ping is waited for")
		}
	}
	if err := b.direct.Apply(t.Context(), []store.RowMutation{put(1)}); err != nil {
		t.Fatal(err)
	}
	for _, lose := range []func(){func() {}, b.HoldAnswers, b.HoldRequests} {
		lose()
		n := 0
		next, err := b.table.Scan(t.Context(), store.Range{Group: "a"}, func(store.Cell) error { n++; return nil })
		if err != nil || next != nil || n != 1 {
			t.Errorf("%d cells, %q, %v", n, next, err)
		}
	}
}

// TestSlowScan: a scan at which the server works for longer than a call may take is left alone.
func TestSlowScan(t *testing.T) {
	t.Parallel() // it waits for the server
	setting := pgtest.Shared(t).Schema(t)
	table := openAt(t, setting, Options{CallTimeout: 400 * time.Millisecond, RetryFor: time.Nanosecond})
	conn, err := pgx.Connect(t.Context(), pgtest.Shared(t).URL(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, schema, err := parseSetting(setting)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE "+pgx.Identifier{schema, "cells_0"}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	scanned := make(chan error)
	go func() {
		_, err := table.Scan(context.Background(), store.Range{Group: "a"}, func(store.Cell) error { return nil })
		scanned <- err
	}()
	if _, err := conn.Exec(t.Context(), "SELECT pg_sleep(1.2); COMMIT"); err != nil {
		t.Error(err)
	}
	if err := <-scanned; err != nil {
		t.Error(err)
	}
}

// TestNotDone: it is certain that nothing happened if no connection was to be had.
func TestNotDone(t *testing.T) {
	b := openBad(t, Options{Conns: 1, RetryFor: 50 * time.Millisecond})
	held, err := b.table.(*table).calls.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	res, err := b.table.Mutate(ended, put(1))
	wantNotDone(t, res, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the context's error, too", err)
	}
	_ = held.Conn().Close(t.Context())
	held.Release()
	b.Refuse()
	res, err = b.table.Mutate(t.Context(), put(1))
	wantNotDone(t, res, err)
	b.wantCells(t, 0)
}

// TestCloseWhileUnreachable: Close does not wait for a server that is gone.
func TestCloseWhileUnreachable(t *testing.T) {
	b := openBad(t, Options{RetryFor: time.Hour})
	b.Refuse()
	b.Cut()
	done := make(chan error, 1)
	go func() { done <- b.table.Apply(context.Background(), []store.RowMutation{put(1)}) }()
	if err := b.table.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, store.ErrClosed) {
		t.Errorf("Apply = %v; want ErrClosed", err)
	}
}

// TestNotDoneWhileClosing: it is certain that nothing happened if Close came between two attempts.
func TestNotDoneWhileClosing(t *testing.T) {
	b := openBad(t, Options{RetryFor: time.Hour})
	b.Refuse()
	closing := b.table.(*table)
	closing.calls.Reset() // a new connection is needed
	closing.close.Do(func() { close(closing.closing) })
	res, err := b.table.Mutate(t.Context(), put(1))
	wantNotDone(t, res, err)
	if !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v; want ErrClosed, too", err)
	}
}

// TestRemovedSchema: the error says what to do.
func TestRemovedSchema(t *testing.T) {
	setting := pgtest.Shared(t).Schema(t)
	table := openAt(t, setting, Options{})
	execute(t, setting, "DROP SCHEMA %s CASCADE")
	res, err := table.Mutate(t.Context(), put(1))
	wantNotDone(t, res, err)
	if _, err = table.Read(t.Context(), []byte("r"), store.Selector{Group: "a"}); err == nil {
		t.Error("Read of a removed schema")
	}
}
