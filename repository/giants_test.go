package repository_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/feed"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestManyMembers: clusters whose members are too many to be kept in memory are exported and
// inspected like others.
func TestManyMembers(t *testing.T) {
	web := mustReadWeb(t, ownWebs)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 2, web)
	type answers struct {
		exports [][]byte
		inspect []*inspect.Inspection
	}
	tx, err := snapshot.Past(t.Context(), r.DB(), snapshot.Moment{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	all := func(known int) (a answers) {
		for _, c := range everyExport {
			var out bytes.Buffer
			opts := feed.Options{Choice: c, ClusterOptions: snapshot.ClusterOptions{Scratch: t.TempDir(), KnownMembers: known}}
			if _, err := feed.Write(t.Context(), r.DB(), tx, opts, &out); err != nil {
				t.Fatal(err)
			}
			a.exports = append(a.exports, out.Bytes())
		}
		for _, f := range web {
			i, err := inspect.URL(t.Context(), r, f.URL, inspect.Options{KnownMembers: known})
			if err != nil {
				t.Fatal(err)
			}
			a.inspect = append(a.inspect, i)
		}
		return a
	}
	want := all(0)
	for _, n := range []int{-1, 1, 2} {
		got := all(n)
		for i, c := range everyExport {
			if !bytes.Equal(got.exports[i], want.exports[i]) {
				t.Errorf("%d members known: %s of %s differs", n, c.Format, c.Table)
			}
		}
		if !reflect.DeepEqual(got.inspect, want.inspect) {
			t.Errorf("%d members known: inspections differ", n)
		}
	}
}

// pagesOf puts the pages of an inspection together.
func pagesOf(t *testing.T, r *repository.Repository, u page.URL, limit func() int) (all *inspect.Inspection, totals [3]int, pages int) {
	t.Helper()
	members, outlinks, inlinks := []page.URL{}, []inspect.Outlink{}, []observers.Inlink{}
	for after := ""; pages == 0 || after != ""; pages++ {
		opts := inspect.Options{Limit: limit(), After: after}
		err := inspect.Long(t.Context(), r, u, opts, func(i *inspect.Inspected, _ *txn.Txn) error {
			var shown [3]int
			err := errors.Join(
				i.EachMember(func(u page.URL) error { members = append(members, u); shown[0]++; return nil }),
				i.EachOutlink(func(l inspect.Outlink) error { outlinks = append(outlinks, l); shown[1]++; return nil }),
				i.EachInlink(func(l observers.Inlink) error { inlinks = append(inlinks, l); shown[2]++; return nil }),
			)
			for _, n := range shown {
				if n > opts.Limit {
					t.Errorf("%s: a page of %d has %v entries", u, opts.Limit, shown)
				}
			}
			_, total, countErr := i.LinkTotals()
			all, after = i.Inspection, i.Next()
			if m, o, n := i.Shown(); m != len(members) || o != len(outlinks) || n != len(inlinks) {
				t.Errorf("%s: %d, %d and %d are said to be shown, not %d, %d and %d", u, m, o, n, len(members), len(outlinks), len(inlinks))
			}
			totals = [3]int{i.MembersTotal, i.OutlinksTotal, total}
			return errors.Join(err, countErr)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all.Members, all.Outlinks, all.Inlinks = members, outlinks, inlinks
	return all, totals, pages
}

// TestPagesAreTheWhole: pages of random sizes, put together, are the inspection of every
// URL.
func TestPagesAreTheWhole(t *testing.T) {
	rng := testenv.Random(t)
	web := mustReadWeb(t, ownWebs)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 2, web)
	urls := []page.URL{"https://never.example/"}
	for _, f := range web {
		urls = append(urls, f.URL)
	}
	turned := 0
	for _, u := range urls {
		want := inspected(t, r, u)
		got, totals, pages := pagesOf(t, r, u, func() int { return 1 + rng.IntN(3) })
		if !reflect.DeepEqual(got, want) || totals != [3]int{len(want.Members), len(want.Outlinks), len(want.Inlinks)} {
			t.Errorf("%s is %+v, in pages %+v of %d", u, want, got, totals)
		}
		turned += pages - 1
	}
	if turned == 0 {
		t.Error("everything fitted on one page")
	}
	err := inspect.Long(t.Context(), r, urls[1], inspect.Options{After: "yesterday"}, nil)
	if !errors.Is(err, inspect.ErrCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
	gone := errors.New("gone")
	for _, u := range urls { // the reader of a list may go away, and gets an error
		err := inspect.Long(t.Context(), r, u, inspect.Options{}, func(i *inspect.Inspected, _ *txn.Txn) error {
			got := i.EachInlink(func(observers.Inlink) error { return gone })
			if len(inspected(t, r, u).Inlinks) > 0 && got != gone {
				t.Errorf("%s: %v", u, got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestPagesOfWhatChanges: an entry that stays is on one page, whatever comes and goes
// between them.
func TestPagesOfWhatChanges(t *testing.T) {
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	hub := loadHub(t, r)
	source := func(n int) page.URL { return page.URL(fmt.Sprintf("https://s%03d.example/", n)) }
	for n := range 20 {
		writeRows(t, r, func(tx *txn.Txn) {
			tx.Set(schema.PairRow(hub, source(10*n)), schema.Anchors, schema.EncodeAnchors([]string{"a", "b"}))
		})
	}
	next := 0
	all, _, _ := pagesOf(t, r, hub, func() int {
		writeRows(t, r, func(tx *txn.Txn) {
			if next > 0 && next < 20 { // one goes, and one comes
				tx.Delete(schema.PairRow(hub, source(10*next-10)), schema.Anchors)
				tx.Set(schema.PairRow(hub, source(10*next+5)), schema.Anchors, schema.EncodeAnchors([]string{"new"}))
			}
		})
		next++
		return 7
	})
	seen := make(map[observers.Inlink]int)
	for _, l := range all.Inlinks {
		seen[l]++
	}
	for l, n := range seen {
		if n != 1 {
			t.Errorf("%v is there %d times", l, n)
		}
	}
	if l := (observers.Inlink{Source: source(190), Target: hub, Anchor: "b"}); seen[l] != 1 {
		t.Errorf("%v stayed, and is not there", l)
	}
}

// loadHub loads one page and waits until it is indexed.
func loadHub(t *testing.T, r *repository.Repository) page.URL {
	t.Helper()
	const hub page.URL = "https://hub.example/"
	load(t, r, 1, []page.Fetch{{
		URL: hub, Time: time.Unix(1e9, 0).UTC(), Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html"}},
		Body:   []byte("<title>Hub</title><p>Everybody knows it, and everybody says so, again and again."),
	}})
	return hub
}

// writeRows writes rows past the observers: what many pages would make them write.
func writeRows(t *testing.T, r *repository.Repository, write func(*txn.Txn)) {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	write(tx)
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// giant gives a page inlinks and copies: 50,000 URLs of a kilobyte each link to it, and
// 20,000 have its content. With INDEXER_LONG=1 they are 1,000,000 and 100,000.
func giant(t *testing.T, r *repository.Repository) (hub page.URL, inlinks, members int) {
	t.Helper()
	inlinks, members = 50_000, 20_000
	if testenv.Long() {
		inlinks, members = 1_000_000, 100_000
	}
	hub = loadHub(t, r)
	tx := r.DB().At(r.DB().LastTimestamp())
	way, err := observers.WayOf(t.Context(), tx, hub)
	tx.Rollback()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Repeat("/long", 190)
	const part = 2000
	for from := 0; from < inlinks; from += part {
		writeRows(t, r, func(tx *txn.Txn) {
			for n := from; n < from+part; n++ {
				source := page.URL(fmt.Sprintf("https://s%07d.example%s", n, path))
				tx.Set(schema.PairRow(hub, source), schema.Anchors, schema.EncodeAnchors([]string{fmt.Sprint("the hub, says ", n)}))
			}
		})
	}
	for from := 0; from < members; from += part {
		writeRows(t, r, func(tx *txn.Txn) {
			for n := from; n < from+part; n++ {
				copied := page.URL(fmt.Sprintf("https://c%07d.example%s", n, path))
				tx.Set(schema.MemberRow(way.Cluster, schema.MemberInfo{URL: copied}), schema.Member, nil)
			}
		})
	}
	return hub, inlinks, members + 1
}

// liveMost is the most that a collection may find alive more than before, in bytes: the
// sorters' 8 MiB for members and for inlinks, as their buffers grow, and blocks of the
// store. The lists of the giant have 70 MB, and with INDEXER_LONG=1 more than 1 GB; held
// as slices they would be more than that. Parquet has 8 MiB of each list, which its
// encoder copies, and a compressor for each column.
const (
	liveMost        = 64 << 20
	liveMostParquet = 160 << 20
)

// heapBound checks how much memory work takes.
type heapBound struct {
	t     *testing.T
	watch *measure.HeapWatch
}

func (h heapBound) check(name string, most int64, do func()) {
	grown := most + 1
	// On a busy machine, a collection may take so long that much of what is allocated meanwhile counts as live.
	// That does not happen every time. What is held does.
	for attempt := 0; attempt < 3 && grown > most; attempt++ {
		runtime.GC()
		h.watch.Take()
		before := h.watch.Take().Live
		do()
		grown = int64(h.watch.Take().Live) - int64(before)
		h.t.Logf("%s: %d MiB more live than before", name, grown>>20)
	}
	if grown > most {
		h.t.Errorf("%s: three times, more than %d MiB more were alive than before", name, most>>20)
	}
}

// TestGiantsInBoundedMemory exports and inspects a page with very many inlinks and copies,
// in all formats, and watches the heap.
func TestGiantsInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes some 100 MB")
	}
	dir := t.TempDir()
	r := open(t, dir, repository.Options{})
	hub, inlinks, members := giant(t, r)
	closeNow(t, r) // the store has written what it had in memory
	r = open(t, dir, repository.Options{})
	defer closeNow(t, r)
	if _, err := r.Export(t.Context(), io.Discard); err != nil { // fills the store's cache
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // looks often
	h := heapBound{t, measure.WatchHeap()}
	defer h.watch.Close()
	for _, c := range everyExport {
		most := int64(liveMost)
		if c.Format == export.FormatParquet {
			most = liveMostParquet
		}
		h.check(c.Format+" of "+c.Table, most, func() { exportGiant(t, r, c, inlinks) })
	}
	h.check("inspect", liveMost, func() { inspectGiant(t, r, hub, members, inlinks) })
	h.check("overview", liveMost, func() { readGiantOverview(t, r, hub, members, inlinks) })
}

func exportGiant(t *testing.T, r *repository.Repository, c export.Choice, inlinks int) {
	count := &counter{of: []byte(`{"source":`)}
	res, err := r.ExportAs(t.Context(), repository.ExportOptions{Choice: c}, count)
	if err != nil {
		t.Fatal(err)
	}
	if c.Format == export.FormatJSONL && count.n != inlinks {
		t.Errorf("%s of %s: %d links, want %d", c.Format, c.Table, count.n, inlinks)
	}
	if c.Table == export.Documents && res.Documents != 1 {
		t.Errorf("%d documents", res.Documents)
	}
}

func inspectGiant(t *testing.T, r *repository.Repository, hub page.URL, members, inlinks int) {
	err := inspect.Long(t.Context(), r, hub, inspect.Options{}, func(i *inspect.Inspected, _ *txn.Txn) error {
		var shown [2]int
		err := errors.Join(
			i.EachMember(func(page.URL) error { shown[0]++; return nil }),
			i.EachInlink(func(observers.Inlink) error { shown[1]++; return nil }),
		)
		if shown != [2]int{members, inlinks} || i.Canonical != hub {
			t.Errorf("%d members and inlinks of %s, want %d and %d", shown, i.Canonical, members, inlinks)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readGiantOverview(t *testing.T, r *repository.Repository, hub page.URL, members, inlinks int) {
	window := inspect.Window{Offset: inlinks - 3, Limit: 10}
	o, err := inspect.ReadOverview(t.Context(), r, hub, inspect.OverviewOptions{Windows: inspect.Windows{Members: window, Inlinks: window}})
	if err != nil {
		t.Fatal(err)
	}
	if o.MembersTotal != members || o.InlinksTotal != inlinks || len(o.Inlinks) != 3 {
		t.Errorf("%d members, %d inlinks, of which %d are shown", o.MembersTotal, o.InlinksTotal, len(o.Inlinks))
	}
}

// counter counts how often something was written to it.
type counter struct {
	of   []byte
	n    int
	rest []byte // of what was written before, which may be the beginning of one
}

func (c *counter) Write(p []byte) (int, error) {
	text := append(c.rest, p...)
	c.n += bytes.Count(text, c.of)
	c.rest = bytes.Clone(text[max(0, len(text)-len(c.of)+1):])
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
