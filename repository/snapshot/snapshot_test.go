package snapshot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// web has a cluster of four members, to which three pages link: two of the links come
// from members, and do not count as inlinks.
var web = []string{
	"a.example/ at=1 page text=same link=b.example/,inside",
	"b.example/ at=1 page text=same",
	"c.example/ at=1 redirect=b.example/",
	"d.example/ at=1 page text=same link=a.example/,inside",
	"x.example/ at=1 page text=x link=a.example/,first link=a.example/,second link=b.example/,third",
	"y.example/ at=1 page text=y link=c.example/,moved link=x.example/,aside",
	"z.example/ at=1 page text=z link=d.example/,fourth",
}

// reader returns a reader of the present state of a rig, and its transaction.
func reader(t *testing.T, r *webtest.Rig) (*snapshot.Reader, *txn.Txn) {
	t.Helper()
	tx, err := snapshot.Past(t.Context(), r.DB, snapshot.Moment{})
	if err != nil {
		t.Fatal(err)
	}
	read := snapshot.NewReader(r.DB, tx)
	t.Cleanup(func() { read.Close(); tx.Rollback() })
	return read, tx
}

func readCluster(t *testing.T, r *webtest.Rig, of page.URL, known int) *snapshot.Cluster {
	t.Helper()
	read, tx := reader(t, r)
	c := snapshot.NewCluster(t.Context(), read, snapshot.ClusterOptions{Scratch: t.TempDir(), KnownMembers: known})
	testenv.CloseAtEnd(t, c)
	way, err := observers.WayOf(t.Context(), tx, of)
	if err == nil && way.HasTerminal {
		err = c.Read(way.Cluster)
	} else if err == nil {
		err = c.ReadSingle(of)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// describe spells everything that a cluster reads.
func describe(t *testing.T, c *snapshot.Cluster) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d members:", webtest.Short(c.Canonical), c.Count)
	err := c.EachMember(func(u page.URL) error { fmt.Fprint(&b, " ", webtest.Short(u)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	pages, links, err := c.CountSources()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "\n%d links from %d pages", links, pages)
	more, err := c.VisitInlinks(100, func(l observers.Inlink) error {
		fmt.Fprintf(&b, "\n%s -> %s %s", webtest.Short(l.Source), webtest.Short(l.Target), l.Anchor)
		return nil
	})
	if err != nil || more {
		t.Fatal(more, err)
	}
	return b.String()
}

func TestCluster(t *testing.T) {
	r := webtest.Settled(t, web...)
	for _, tt := range []struct{ of, want string }{
		{"https://c.example/", `b.example/, 4 members: a.example/ b.example/ c.example/ d.example/
5 links from 3 pages
x.example/ -> a.example/ first
x.example/ -> a.example/ second
x.example/ -> b.example/ third
y.example/ -> c.example/ moved
z.example/ -> d.example/ fourth`},
		{"https://x.example/", "x.example/, 1 members: x.example/\n1 links from 1 pages\ny.example/ -> x.example/ aside"},
		{"https://never.example/", ", 1 members: never.example/\n0 links from 0 pages"},
	} {
		// However many members fit into memory, the answer is the same.
		for _, known := range []int{0, 1, -1} {
			if got := describe(t, readCluster(t, r, page.URL(tt.of), known)); got != tt.want {
				t.Errorf("%s, %d members known:\n%s\nwant\n%s", tt.of, known, got, tt.want)
			}
		}
	}
}

// TestVisitInlinksInParts visits a part of the inlinks, and continues at each row.
func TestVisitInlinksInParts(t *testing.T) {
	c := readCluster(t, webtest.Settled(t, web...), "https://a.example/", 0)
	for most := range 7 {
		n := 0
		more, err := c.VisitInlinks(most, func(observers.Inlink) error { n++; return nil })
		if err != nil || n != min(most, 5) || more != (most < 5) {
			t.Errorf("at most %d: %d inlinks, more %t, %v", most, n, more, err)
		}
	}
	var rows []string
	collect := func(list *[]string) func(*snapshot.LinkRow) error {
		return func(l *snapshot.LinkRow) error { *list = append(*list, l.Row); return nil }
	}
	if err := c.EachLinkRow("", collect(&rows)); err != nil {
		t.Fatal(err)
	}
	for i, from := range rows {
		var rest []string
		if err := c.EachLinkRow(from, collect(&rest)); err != nil || fmt.Sprint(rest) != fmt.Sprint(rows[i:]) {
			t.Errorf("from row %d: %q, want %q, %v", i, rest, rows[i:], err)
		}
	}
}

// TestSourceAnchors finds all links of a page at its first row.
func TestSourceAnchors(t *testing.T) {
	c := readCluster(t, webtest.Settled(t, web...), "https://a.example/", 0)
	var got []string
	err := c.EachLinkRow("", func(l *snapshot.LinkRow) error {
		anchors, first, err := c.SourceAnchors(l)
		if first {
			source, _ := l.Source()
			got = append(got, fmt.Sprint(webtest.Short(source), anchors))
		}
		return err
	})
	if want := "[x.example/[first second third] y.example/[moved] z.example/[fourth]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s, %v", got, want, err)
	}
}

// TestSourceAnchorsInParts: the links from a page to a member are stored in several parts.
func TestSourceAnchorsInParts(t *testing.T) {
	r, err := webtest.Open(t.Context(), webtest.Options{Part: schema.PartSize{Entries: 2, Bytes: 1 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	r.Add(t, "a.example/ at=1 page text=same", "b.example/ at=1 page text=same",
		"x.example/ at=1 page text=x link=a.example/,1 link=b.example/,2 link=b.example/,3 link=b.example/,4 link=b.example/,5 link=b.example/,6")
	if err := r.Quiesce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c := readCluster(t, r, "https://a.example/", 0)
	var got []string
	err = c.EachLinkRow("", func(l *snapshot.LinkRow) error {
		anchors, first, err := c.SourceAnchors(l)
		if first {
			got = append(got, anchors...)
		}
		return err
	})
	if err != nil || fmt.Sprint(got) != "[1 2 3 4 5 6]" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestReaderStays reads more than one transaction of a reader holds, while the rows
// change: it sees the values of its timestamp.
func TestReaderStays(t *testing.T) {
	r := webtest.Settled(t, "a.example/ at=1 page text=old")
	read, _ := reader(t, r)
	r.Add(t, "a.example/ at=2 gone")
	if err := r.Quiesce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	row := schema.URLRow("https://a.example/")
	for i := range 10_000 {
		v, err := read.Cell().Get(t.Context(), row, schema.State)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := schema.DecodeURLState(v.Data); err != nil || s.Outcome != page.Page {
			t.Fatalf("read %d: %v, %v", i, s.Outcome, err)
		}
	}
}

func TestPast(t *testing.T) {
	r := webtest.Settled(t, "a.example/ at=1 page text=old")
	last := r.DB.LastTimestamp()
	for _, tt := range []struct {
		name string
		at   snapshot.Moment
		want error
	}{
		{"now", snapshot.Moment{}, nil},
		{"newest timestamp", snapshot.Moment{TS: last}, nil},
		{"future timestamp", snapshot.Moment{TS: last + 1}, snapshot.ErrFuture},
		{"future time", snapshot.Moment{Time: time.Now().Add(time.Hour)}, snapshot.ErrFuture},
		{"time without a history", snapshot.Moment{Time: time.Now().Add(-time.Hour)}, txn.ErrBelowSafePoint},
	} {
		tx, err := snapshot.Past(t.Context(), r.DB, tt.at)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err != nil {
			continue
		}
		if tx.Start() != last {
			t.Errorf("%s: reads at %d, want %d", tt.name, tx.Start(), last)
		}
		tx.Rollback()
	}
}

func TestNotKeptError(t *testing.T) {
	noon := time.Date(2024, 3, 1, 12, 0, 0, 1, time.UTC)
	for _, tt := range []struct {
		err  snapshot.NotKeptError
		want string
	}{
		{snapshot.NotKeptError{Asked: snapshot.Moment{TS: 3}, OldestTS: 9}, "the state of timestamp 3 is not kept, because there is no history of times; the setting history (for example history: 24h) starts one. Timestamps from 9 on are readable"},
		{snapshot.NotKeptError{Asked: snapshot.Moment{Time: noon}, Oldest: noon}, "the state of 2024-03-01T12:00:00Z is not kept: the earliest known time is 2024-03-01T12:00:00.001Z"},
		{snapshot.NotKeptError{Asked: snapshot.Moment{TS: 3}, OldestTS: 9, Oldest: noon}, "the state of timestamp 3 is not kept: the oldest that can be read is from 2024-03-01T12:00:00.001Z, timestamp 9"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
