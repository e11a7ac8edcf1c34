// Package storetest is the conformance suite for engines of package store: Run
// checks every promise that table.go and capability.go make, Bench measures.
//
// An engine's own test calls
//
//	storetest.Run(t, func(t testing.TB, groups []store.GroupSpec) store.Table { … })
//
// with a function that returns a fresh, empty table each time. The suite closes
// what it opens. Capabilities are tested if the table has them.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
)

// Opener returns a fresh, empty table.
type Opener func(t testing.TB, groups []store.GroupSpec) store.Table

// Groups are the locality groups the suite opens tables with: one of each kind.
var Groups = []store.GroupSpec{
	{Name: versioned},
	{Name: latest, Latest: true},
	{Name: locks, Latest: true, Resident: true},
	{Name: resident, Resident: true},
}

const (
	versioned = "versioned"
	latest    = "latest"
	locks     = "locks"
	resident  = "resident"
)

// Run runs the suite.
func Run(t *testing.T, open Opener) {
	parts := []struct {
		name string
		fn   func(*testing.T, Opener)
	}{
		{"Describe", testDescribe},
		{"ReadSelectors", testReadSelectors},
		{"Mutations", testMutations},
		{"Guards", testGuards},
		{"Order", testOrder},
		{"ScanResume", testScanResume},
		{"ScanErrors", testScanErrors},
		{"Limits", testLimits},
		{"BadRequests", testBadRequests},
		{"OwnSlices", testOwnSlices},
		{"RowAtomicity", testRowAtomicity},
		{"OneWinner", testOneWinner},
		{"Snapshot", testSnapshot},
		{"Commit", testCommit},
		{"CommitConflicts", testCommitConflicts},
		{"ClockAlternates", testClockAlternates},
		{"ClockFails", testClockFails},
		{"CommitVisibility", testCommitVisibility},
		{"Model", testModel},
		{"ManyVersions", testManyVersions},
		{"Context", testContext},
		{"Closed", testClosed},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.fn(t, open) })
	}
}

// fixture is a table with shorthands that fail the test.
type fixture struct {
	testing.TB
	table store.Table
}

func start(t testing.TB, open Opener) *fixture {
	t.Helper()
	table := open(t, Groups)
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &fixture{TB: t, table: table}
}

var ctx = context.Background()

func put(group, column string, ts uint64, value string) store.Mutation {
	return store.Mutation{Op: store.Put, Group: group, Column: []byte(column), TS: ts, Value: []byte(value)}
}

func del(group, column string, ts uint64) store.Mutation {
	return store.Mutation{Op: store.Delete, Group: group, Column: []byte(column), TS: ts}
}

func delUpTo(group, column string, ts uint64) store.Mutation {
	return store.Mutation{Op: store.DeleteUpTo, Group: group, Column: []byte(column), TS: ts}
}

func row(name string, muts ...store.Mutation) store.RowMutation {
	return store.RowMutation{Row: []byte(name), Mutations: muts}
}

func exact(group, column string) store.Selector {
	return store.Selector{Group: group, Column: []byte(column)}
}

func prefix(group, column string) store.Selector {
	return store.Selector{Group: group, Column: []byte(column), Prefix: true}
}

// mutate expects Applied.
func (f *fixture) mutate(m store.RowMutation) {
	f.Helper()
	res, err := f.table.Mutate(ctx, m)
	if err != nil || res.Outcome != store.Applied {
		f.Fatalf("Mutate(row %q) = %v, %v; want applied", m.Row, res.Outcome, err)
	}
}

func (f *fixture) read(r store.Reader, row string, sel ...store.Selector) string {
	f.Helper()
	cells, err := r.Read(ctx, []byte(row), sel...)
	if err != nil {
		f.Fatalf("Read(%q): %v", row, err)
	}
	return show(cells)
}

func (f *fixture) wantRead(want, row string, sel ...store.Selector) {
	f.Helper()
	if got := f.read(f.table, row, sel...); got != want {
		f.Errorf("Read(%q, %+v)\n got %s\nwant %s", row, sel, got, want)
	}
}

// scanAll scans in one go and checks that the range was done.
func (f *fixture) scanAll(r store.Reader, rg store.Range) []store.Cell {
	f.Helper()
	var cells []store.Cell
	rg.MaxCells = 0
	next, err := r.Scan(ctx, rg, func(c store.Cell) error {
		if rg.Borrowed {
			c.Row, c.Column, c.Value = bytes.Clone(c.Row), bytes.Clone(c.Column), bytes.Clone(c.Value)
		}
		cells = append(cells, c)
		return nil
	})
	if err != nil || next != nil {
		f.Fatalf("Scan(%+v) = %q, %v; want nil, nil", rg, next, err)
	}
	return cells
}

// show prints cells as "group:row:column@ts=value", in the order given.
func show(cells []store.Cell) string {
	s := ""
	for i, c := range cells {
		if i > 0 {
			s += " "
		}
		s += showCell(c)
	}
	return s
}

func showCell(c store.Cell) string {
	value := string(c.Value)
	if len(value) > 32 {
		value = fmt.Sprintf("%s…%d", value[:8], len(value))
	}
	return fmt.Sprintf("%s:%s:%s@%d=%s", c.Group, quote(c.Row), quote(c.Column), c.TS, value)
}

func quote(b []byte) string {
	q := fmt.Sprintf("%q", b)
	return q[1 : len(q)-1]
}

// testClock hands out timestamps from 1001 on and records how it is used.
type testClock struct {
	last     uint64
	reserved uint64 // greatest handed out
	visible  uint64
	open     bool
	faults   []string
	fail     error
}

func newClock() *testClock { return &testClock{last: 1000, visible: 1000} }

func (c *testClock) Reserve(n int) (uint64, error) {
	if c.fail != nil {
		return 0, c.fail
	}
	if c.open {
		c.faults = append(c.faults, "Reserve before Visible")
	}
	if n < 1 {
		c.faults = append(c.faults, fmt.Sprintf("Reserve(%d)", n))
	}
	c.open = true
	first := c.last + 1
	c.last += uint64(n)
	c.reserved = c.last
	return first, nil
}

func (c *testClock) Visible() {
	if !c.open {
		c.faults = append(c.faults, "Visible without Reserve")
	}
	c.open = false
	c.visible = c.reserved
}

// committer returns the capability with a clock, or skips.
func (f *fixture) committer() (store.Committer, *testClock) {
	f.Helper()
	c, ok := f.table.(store.Committer)
	if !ok {
		f.Skip("the table is not a Committer")
	}
	clock := newClock()
	c.UseClock(clock)
	return c, clock
}

func (f *fixture) snapshotter() store.Snapshotter {
	f.Helper()
	s, ok := f.table.(store.Snapshotter)
	if !ok {
		f.Skip("the table is not a Snapshotter")
	}
	return s
}
