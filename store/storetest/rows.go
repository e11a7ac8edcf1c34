package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/webindexer/indexer/store"
)

func testDescribe(t *testing.T, open Opener) {
	f := start(t, open)
	if got := f.table.Groups(); !reflect.DeepEqual(got, Groups) {
		t.Errorf("Groups() = %v, want %v", got, Groups)
	}
	l := f.table.Limits()
	if l.MaxTS < 1<<53 || l.MaxTS > store.MaxTS {
		t.Errorf("Limits().MaxTS = %d", l.MaxTS)
	}
	if l.MaxRowBytes < 1024 || l.MaxColumnBytes < 1024 || l.MaxValueBytes < 1<<20 || l.MaxBatchBytes < l.MaxValueBytes {
		t.Errorf("Limits() = %+v: too small to be of use, or without order", l)
	}
}

func testReadSelectors(t *testing.T, open Opener) {
	f := start(t, open)
	f.mutate(row("r",
		put(versioned, "a", 1, "a1"), put(versioned, "a", 3, "a3"), put(versioned, "a", 5, "a5"),
		put(versioned, "ab", 2, "ab2"), put(versioned, "b", 4, ""), put(versioned, "", 9, "none"),
		put(latest, "a", 7, "l7"), put(latest, "b", 8, "l8")))
	f.mutate(row("q", put(versioned, "a", 2, "other row")))
	all := "versioned:r:@9=none versioned:r:a@5=a5 versioned:r:a@3=a3 versioned:r:a@1=a1 versioned:r:ab@2=ab2 versioned:r:b@4="
	for _, tc := range []struct {
		want string
		sel  []store.Selector
	}{
		{"", nil},
		{"versioned:r:a@5=a5 versioned:r:a@3=a3 versioned:r:a@1=a1", []store.Selector{exact(versioned, "a")}},
		{all, []store.Selector{prefix(versioned, "")}},
		{"versioned:r:a@5=a5 versioned:r:a@3=a3 versioned:r:a@1=a1 versioned:r:ab@2=ab2", []store.Selector{prefix(versioned, "a")}},
		{"versioned:r:@9=none", []store.Selector{exact(versioned, "")}},
		{"versioned:r:b@4=", []store.Selector{exact(versioned, "b")}},
		{"versioned:r:a@3=a3", []store.Selector{{Group: versioned, Column: []byte("a"), MaxTS: 4, Newest: 1}}},
		{"versioned:r:a@5=a5 versioned:r:a@3=a3", []store.Selector{{Group: versioned, Column: []byte("a"), MinTS: 2}}},
		{"versioned:r:a@3=a3", []store.Selector{{Group: versioned, Column: []byte("a"), MinTS: 3, MaxTS: 3}}},
		{"", []store.Selector{{Group: versioned, Column: []byte("a"), MinTS: 4, MaxTS: 3}}},
		{"versioned:r:a@5=a5 versioned:r:a@3=a3 versioned:r:ab@2=ab2", []store.Selector{{Group: versioned, Column: []byte("a"), Prefix: true, Newest: 2, MinTS: 2}}},
		{"latest:r:a@7=l7", []store.Selector{exact(latest, "a")}},
		{"", []store.Selector{{Group: latest, Column: []byte("a"), MinTS: 8}}},
		{"", []store.Selector{{Group: latest, Column: []byte("a"), MaxTS: 6}}},
		{"latest:r:a@7=l7 latest:r:b@8=l8", []store.Selector{prefix(latest, "")}},
		{"latest:r:b@8=l8", []store.Selector{{Group: latest, Prefix: true, MinTS: 8}}},
		{"", []store.Selector{exact(locks, "a"), prefix(resident, "")}},
		{"latest:r:b@8=l8 versioned:r:ab@2=ab2 versioned:r:a@5=a5 latest:r:b@8=l8", []store.Selector{
			exact(latest, "b"), exact(versioned, "ab"), {Group: versioned, Column: []byte("a"), Newest: 1}, exact(latest, "b")}},
	} {
		f.wantRead(tc.want, "r", tc.sel...)
	}
	f.wantRead("", "nowhere", prefix(versioned, ""), exact(latest, "a"))
	f.wantRead("", "", prefix(versioned, ""))
}

func testMutations(t *testing.T, open Opener) {
	for _, g := range []string{latest, locks} {
		t.Run(g, func(t *testing.T) { testLatest(t, open, g) })
	}
	for _, g := range []string{versioned, resident} {
		t.Run(g, func(t *testing.T) { testVersioned(t, open, g) })
	}
}

func testLatest(t *testing.T, open Opener, g string) {
	f := start(t, open)
	for _, step := range []struct {
		m    store.Mutation
		want string
	}{
		{put(g, "c", 5, "five"), "@5=five"},
		{put(g, "c", 4, "older: no change"), "@5=five"},
		{put(g, "c", 5, "again"), "@5=again"},
		{put(g, "c", 5, "again"), "@5=again"},
		{put(g, "c", 9, "nine"), "@9=nine"},
		{del(g, "c", 5), "@9=nine"},
		{delUpTo(g, "c", 8), "@9=nine"},
		{delUpTo(g, "c", 9), ""},
		{delUpTo(g, "c", 9), ""},
		{put(g, "c", 3, "after the delete"), "@3=after the delete"},
		{del(g, "c", 4), "@3=after the delete"},
		{del(g, "c", 3), ""},
		{del(g, "c", 3), ""},
		{put(g, "c", 0, "zero"), "@0=zero"},
		{delUpTo(g, "c", store.MaxTS), ""},
		{put(g, "c", f.table.Limits().MaxTS, "end of time"), fmt.Sprintf("@%d=end of time", f.table.Limits().MaxTS)},
	} {
		f.mutate(row("r", step.m))
		want := step.want
		if want != "" {
			want = g + ":r:c" + want
		}
		f.wantRead(want, "r", prefix(g, ""))
		f.wantRead(want, "r", exact(g, "c"))
	}
	// One mutation: in the order given.
	f.mutate(row("s", put(g, "c", 5, "first"), put(g, "c", 4, "lost"), delUpTo(g, "c", 5), put(g, "c", 2, "second"), put(g, "d", 1, "d"), del(g, "d", 1)))
	f.wantRead(g+":s:c@2=second", "s", prefix(g, ""))
}

func testVersioned(t *testing.T, open Opener, g string) {
	f := start(t, open)
	show := func(spec string) string {
		if spec == "" {
			return ""
		}
		s := ""
		for i, c := range spec {
			if i > 0 {
				s += " "
			}
			s += fmt.Sprintf("%s:r:c@%c=v", g, c)
		}
		return s
	}
	for _, step := range []struct {
		m    store.Mutation
		want string
	}{
		{put(g, "c", 5, "v"), "5"},
		{put(g, "c", 5, "v"), "5"},
		{put(g, "c", 3, "v"), "53"},
		{put(g, "c", 7, "v"), "753"},
		{del(g, "c", 4), "753"},
		{del(g, "c", 5), "73"},
		{del(g, "c", 5), "73"},
		{put(g, "c", 5, "v"), "753"},
		{delUpTo(g, "c", 5), "7"},
		{delUpTo(g, "c", 5), "7"},
		{put(g, "c", 1, "v"), "71"},
		{delUpTo(g, "c", store.MaxTS), ""},
	} {
		f.mutate(row("r", step.m))
		f.wantRead(show(step.want), "r", prefix(g, ""))
	}
	// One mutation: in the order given. The neighbours stay.
	f.mutate(row("r", put(g, "b", 1, "b"), put(g, "c\x00", 1, "nul"), put(g, "cc", 1, "cc"), put(g, "c", 8, "v")))
	f.mutate(row("r", put(g, "c", 2, "v"), put(g, "c", 9, "v"), delUpTo(g, "c", 8), put(g, "c", 4, "v"), del(g, "c", 9)))
	f.wantRead(g+`:r:b@1=b `+g+`:r:c@4=v `+g+`:r:c\x00@1=nul `+g+`:r:cc@1=cc`, "r", prefix(g, ""))
}

func testLimits(t *testing.T, open Opener) {
	f := start(t, open)
	l := f.table.Limits()
	big := func(n int) string { return string(make([]byte, n)) }
	// At the limits.
	f.mutate(row(big(l.MaxRowBytes), put(versioned, big(l.MaxColumnBytes), 1, "v"), put(latest, big(l.MaxColumnBytes), 1, "v")))
	if cells := f.scanAll(f.table, store.Range{Group: versioned}); len(cells) != 1 || len(cells[0].Row) != l.MaxRowBytes || len(cells[0].Column) != l.MaxColumnBytes {
		t.Errorf("the cell with the longest key did not come back")
	}
	f.mutate(row("big", put(versioned, "c", 1, big(l.MaxValueBytes))))
	f.mutate(row("big", put(latest, "c", 1, big(l.MaxValueBytes))))
	cells, err := f.table.Read(ctx, []byte("big"), exact(versioned, "c"), exact(latest, "c"))
	if err != nil || len(cells) != 2 || len(cells[0].Value) != l.MaxValueBytes || len(cells[1].Value) != l.MaxValueBytes {
		t.Errorf("the greatest value did not come back: %s, %v", show(cells), err)
	}
	// Beyond them.
	tooLarge := []store.RowMutation{
		row(big(l.MaxRowBytes+1), put(versioned, "c", 1, "v")),
		row("r", put(versioned, "ok", 1, "v"), put(versioned, big(l.MaxColumnBytes+1), 1, "v")),
		row("r", put(versioned, "ok", 1, "v"), put(versioned, "c", 1, big(l.MaxValueBytes+1))),
		row("r", put(versioned, "ok", 1, "v"), put(versioned, "c", 1, big(l.MaxValueBytes)), put(versioned, "d", 1, big(l.MaxBatchBytes-l.MaxValueBytes))),
	}
	for i, m := range tooLarge {
		if res, err := f.table.Mutate(ctx, m); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("Mutate %d = %v, %v; want ErrTooLarge", i, res, err)
		}
		if err := f.table.Apply(ctx, []store.RowMutation{row("r", put(versioned, "before", 1, "v")), m}); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("Apply %d = %v; want ErrTooLarge", i, err)
		}
		if c, ok := f.table.(store.Committer); ok {
			c.UseClock(newClock())
			if _, res, err := c.Commit(ctx, []store.RowMutation{row("r", put(versioned, "x", 1, "v")), m}); !errors.Is(err, store.ErrTooLarge) {
				t.Errorf("Commit %d = %v, %v; want ErrTooLarge", i, res, err)
			}
		}
	}
	if l.MaxTS < store.MaxTS {
		if res, err := f.table.Mutate(ctx, row("r", put(versioned, "c", l.MaxTS+1, "v"))); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("Mutate beyond MaxTS = %v, %v; want ErrTooLarge", res, err)
		}
	}
	f.wantRead("", "r", prefix(versioned, ""))
	// Apply is bounded per row, not as a whole.
	var rows []store.RowMutation
	for i := range 3 {
		rows = append(rows, row(fmt.Sprint("many", i), put(versioned, "c", 1, big(l.MaxValueBytes))))
	}
	if err := f.table.Apply(ctx, rows); err != nil {
		t.Errorf("Apply of 3 rows of the greatest size: %v", err)
	}
}

func testBadRequests(t *testing.T, open Opener) {
	f := start(t, open)
	_, err := f.table.Read(ctx, []byte("r"), exact("nope", "c"))
	wantUnknownGroup(t, "Read", err)
	_, err = f.table.Scan(ctx, store.Range{Group: "nope"}, func(store.Cell) error { return nil })
	wantUnknownGroup(t, "Scan", err)
	for _, m := range []store.RowMutation{
		row("r", put(versioned, "c", 1, "v"), put("nope", "c", 1, "v")),
		{Row: []byte("r"), Absent: []store.Selector{exact("nope", "c")}, Mutations: []store.Mutation{put(versioned, "c", 1, "v")}},
		{Row: []byte("r"), Require: &store.CellRef{Group: "nope"}, Mutations: []store.Mutation{put(versioned, "c", 1, "v")}},
	} {
		_, err := f.table.Mutate(ctx, m)
		wantUnknownGroup(t, "Mutate", err)
	}
	wantUnknownGroup(t, "Apply", f.table.Apply(ctx, []store.RowMutation{row("r", put(versioned, "c", 1, "v"), put("nope", "c", 1, "v"))}))
	if res, err := f.table.Mutate(ctx, row("r", put(versioned, "c", store.AtCommit, "v"))); err == nil {
		t.Errorf("Mutate with AtCommit = %v, want an error", res)
	}
	if err := f.table.Apply(ctx, []store.RowMutation{row("r", put(versioned, "c", store.AtCommit, "v"))}); err == nil {
		t.Error("Apply with AtCommit: want an error")
	}
	if err := f.table.Apply(ctx, []store.RowMutation{{Row: []byte("r"), Absent: []store.Selector{exact(versioned, "c")}}}); err == nil {
		t.Error("Apply with a guard: want an error, the guard would be ignored")
	}
	if c, ok := f.table.(store.Committer); ok {
		if _, res, err := c.Commit(ctx, []store.RowMutation{row("r", put(versioned, "c", store.AtCommit, "v"))}); err == nil {
			t.Errorf("Commit before UseClock = %v, want an error", res)
		}
	}
	f.wantRead("", "r", prefix(versioned, ""))
}

func wantUnknownGroup(t *testing.T, call string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrUnknownGroup) {
		t.Errorf("%s with an unknown group: %v, want ErrUnknownGroup", call, err)
	}
}

// testOwnSlices: what is handed in is not kept, what is handed out is not shared
// with the table.
func testOwnSlices(t *testing.T, open Opener) {
	f := start(t, open)
	m := row("row", put(versioned, "col", 1, "value"), put(latest, "col", 1, "value"), put(locks, "col", 1, "value"))
	f.mutate(m)
	spoil := func(b []byte) {
		for i := range b {
			b[i] = '!'
		}
	}
	spoil(m.Row)
	for _, mut := range m.Mutations {
		spoil(mut.Column)
		spoil(mut.Value)
	}
	want := "versioned:row:col@1=value latest:row:col@1=value locks:row:col@1=value"
	for range 2 {
		sel := []store.Selector{exact(versioned, "col"), exact(latest, "col"), prefix(locks, "c")}
		cells, err := f.table.Read(ctx, []byte("row"), sel...)
		if err != nil || show(cells) != want {
			t.Fatalf("got %s, %v\nwant %s", show(cells), err, want)
		}
		for _, c := range cells {
			spoil(c.Column)
			spoil(c.Value)
			spoil(c.Row)
		}
	}
}
