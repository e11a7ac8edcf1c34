package document

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// TestSpec runs the specifications of testdata, each file on a cluster of its own.
// Commands, and what they print:
//
//	cluster    begins a new cluster. Lines: member URL; link SOURCE TARGET ANCHOR,...;
//	           rank URL NUMBER
//	change     the same lines, for the cluster that is there; "link" without anchors
//	           removes the link
//	assemble   [canonical=URL] [rows=N] [members=N] [anchors=N] [counted=N] [insiders=N]:
//	           prints the document, in how many parts it was read, and how many ranks were
//	           asked for
//	visit      [rows=N] [insiders=N]: prints the inlinks, with a line between parts
//	diff       [entries=N] [bytes=N]: two lists of links, "old" and "now", a target with
//	           its anchors a line, "/" between parts; prints what changes, with a line
//	           where a bounded call stops
func TestSpec(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Parallel()
		m := newMemory()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "cluster":
				m = newMemory()
				fallthrough
			case "change":
				for line := range strings.Lines(d.Input) {
					change(t, m, strings.Fields(line))
				}
				return ""
			case "assemble":
				return assemble(t, m, d)
			case "visit":
				return visit(t, m, d)
			case "diff":
				return diff(t, d)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func change(t *testing.T, m *memory, fields []string) {
	t.Helper()
	switch fields[0] {
	case "member":
		m.member(long(fields[1]))
	case "link":
		var anchors []string
		if len(fields) > 3 {
			anchors = strings.Split(fields[3], ",")
		}
		m.link(long(fields[1]), long(fields[2]), anchors...)
	case "rank":
		var rank float64
		if _, err := fmt.Sscan(fields[2], &rank); err != nil {
			t.Fatal(err)
		}
		m.ranks[long(fields[1])] = rank
	default:
		t.Fatalf("unknown line %q", fields)
	}
}

func limitsOf(t *testing.T, d *datadriven.TestData) Limits {
	t.Helper()
	var l Limits
	for name, field := range map[string]*int{
		"rows": &l.InlinkRows, "members": &l.Members, "anchors": &l.Anchors, "counted": &l.CountedAnchors, "insiders": &l.Insiders,
	} {
		d.MaybeScanArgs(t, name, field)
	}
	return l.WithDefaults()
}

func assemble(t *testing.T, m *memory, d *datadriven.TestData) string {
	t.Helper()
	limits, canonical := limitsOf(t, d), ""
	d.MaybeScanArgs(t, "canonical", &canonical)
	choice := Choice{Members: len(m.members), Rank: 1.5}
	if canonical != "" {
		choice.Canonical = long(canonical)
	}
	m.ranked = 0
	a, err := Begin(t.Context(), m, limits, choice)
	if err != nil {
		t.Fatal(err)
	}
	parts := read(t, m, a, limits.InlinkRows)
	doc := a.Document()
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q, rank %g, %d members", short(doc.Canonical), doc.Text.Title, doc.Rank, doc.MembersTotal)
	for _, u := range doc.Members {
		fmt.Fprintf(&b, " %s", short(u))
	}
	fmt.Fprintf(&b, "\n%d inlinks", doc.Inlinks)
	for _, a := range doc.Anchors {
		fmt.Fprintf(&b, " %s:%d/%d", a.Text, a.Count, a.Others)
	}
	fmt.Fprintf(&b, "\nparts %d, ranks %d\n", parts, m.ranked)
	return b.String()
}

// read reads the inlinks of a document, and returns in how many parts.
func read(t *testing.T, r Reader, a *Assembly, rows int) (parts int) {
	t.Helper()
	for all := false; !all; parts++ {
		if parts > 1000 {
			t.Fatal("it does not end")
		}
		left := rows
		var err error
		if all, err = a.Next(t.Context(), r, &left); err != nil {
			t.Fatal(err)
		}
	}
	return parts
}

func visit(t *testing.T, m *memory, d *datadriven.TestData) string {
	t.Helper()
	limits := limitsOf(t, d)
	v := newInlinks(limits)
	var b strings.Builder
	for {
		left := limits.InlinkRows
		for l, err := range v.Next(t.Context(), m, &left) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s %s\n", short(l.Target), short(l.Source), strings.Join(l.Anchors, ","))
		}
		if !v.More() {
			return b.String()
		}
		b.WriteString("-\n")
	}
}

// entry, part and list are a list of links in memory.
type (
	entry struct {
		target  string
		anchors []string
	}
	part []entry
	list []part
)

func (l list) Parts() int                                      { return len(l) }
func (l list) Part(_ context.Context, i int) (LinkPart, error) { return l[i], nil }
func (p part) Entry(i int) (page.URL, []string)                { return page.URL(p[i].target), p[i].anchors }
func (p part) Len() int                                        { return len(p) }

func diff(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	lists := map[string]list{}
	name := ""
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		switch l := lists[name]; {
		case fields[0] == "old" || fields[0] == "now":
			name = fields[0]
			lists[name] = list{nil}
		case fields[0] == "/":
			lists[name] = append(l, nil)
		default:
			l[len(l)-1] = append(l[len(l)-1], entry{fields[0], fields[1:]})
		}
	}
	var bound *Bound
	if d.HasArg("entries") {
		bound = &Bound{Entries: 1 << 20, Bytes: 1 << 20}
		d.ScanArgs(t, "entries", &bound.Entries)
		d.MaybeScanArgs(t, "bytes", &bound.Bytes)
	}
	var b strings.Builder
	steps(t, lists["old"], lists["now"], bound, func(target string, old, now [][]string) {
		fmt.Fprintf(&b, "%s: %v -> %v\n", target, old, now)
	}, func() { b.WriteString("-\n") })
	return b.String()
}

// steps compares two lists, with new readers at the stored places after each stop.
func steps(t *testing.T, old, now list, bound *Bound, change func(target string, old, now [][]string), stopped func()) {
	t.Helper()
	var atOld, atNow ListPlace
	for n := 0; ; n++ {
		if n > 1000 {
			t.Fatal("it does not end")
		}
		x, y := ReadList(old, atOld), ReadList(now, atNow)
		all, err := Diff(t.Context(), x, y, bound, func(target page.URL, old, now [][]string) {
			change(string(target), slices.Clone(old), slices.Clone(now))
		})
		if err != nil {
			t.Fatal(err)
		}
		if all {
			return
		}
		stopped()
		atOld, atNow = x.Place(), y.Place()
	}
}
