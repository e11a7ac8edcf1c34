package observers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

var long = testenv.Long()

// TestMemberCost: with more members, one that comes or goes costs as many transactions of
// the same size, and no more to read but for a row for some hundred members; and a look for the inlinks
// of each, which is up to index, or in parts to count. With INDEXER_LONG=1 there are 100,000.
func TestMemberCost(t *testing.T) {
	sizes := []int{1000, 4000}
	switch {
	case testing.Short():
		sizes = []int{600, 2400}
	case long:
		sizes = []int{1000, 10_000, 100_000}
	}
	table := newMeteredTable(t)
	r := openStepRig(t, table)
	loaded := 0
	first := make(map[string]int)
	for _, n := range sizes {
		for ; loaded < n; loaded++ {
			r.load(pageAt(numbered(loaded), 1, "alike", ""))
		}
		r.settle()
		one := page.URL(fmt.Sprintf("https://z.ex/%d", n)) // one that was not known
		for _, step := range []struct {
			name string
			f    *page.Fetch
		}{
			{"comes", pageAt(one, 2, "alike", "")},
			{"goes", &page.Fetch{URL: one, Time: time.Unix(3, 0), Status: http.StatusGone}},
		} {
			table.reset()
			r.load(step.f)
			steps := r.settle()
			reads := 0
			for observer, n := range table.all {
				if observer != "index" && observer != "count" {
					reads += n
				}
			}
			t.Logf("member %d %s: %d transactions, %d cells read, by observers %v", n, step.name, steps, reads, table.all)
			if steps > 6+table.runs["count"] {
				t.Errorf("%d transactions", steps)
			}
			if first[step.name] == 0 {
				first[step.name] = reads
			}
			// Sections have 32 members at least, and are read by two runs of rerank at most.
			if most := 2*first[step.name] + 2*n/32; reads > most {
				t.Errorf("%d cells read when member %d %s, want at most %d", reads, n, step.name, most)
			}
			table.atMost(t, 20, nil)
		}
	}
	r.check()
}

// TestGiantAndBack: members leave a giant cluster in any order, because they have other content,
// are gone, or say noindex, the canonical one among them, until it is small, and come back.
func TestGiantAndBack(t *testing.T) {
	const n = 30
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(2, 8, 60))) {
		random := rand.New(rand.NewPCG(seed, 17))
		r := openStepRigOf(t, webtest.Options{Limits: observers.Limits{Cluster: giants(8)}})
		second := 1
		for i := range n {
			r.load(pageAt(numbered(i), second, "alike", fmt.Sprintf("<area href=%q>", numbered(random.IntN(n)))))
		}
		r.settle()
		for range 3 {
			for k, i := range random.Perm(n) {
				second++
				f := &page.Fetch{URL: numbered(i), Time: time.Unix(int64(second), 0), Status: http.StatusGone}
				switch random.IntN(3) {
				case 0:
					f = pageAt(numbered(i), second, fmt.Sprint("other ", i), "")
				case 1:
					f = pageAt(numbered(i), second, "alike", "")
					f.Header.Set("X-Robots-Tag", "noindex")
				}
				r.load(f)
				if k%7 == 0 {
					r.settle()
					r.checkAll(fmt.Sprintf("seed %d, %d have left", seed, k+1))
				}
			}
			for k, i := range random.Perm(n) {
				second++
				r.load(pageAt(numbered(i), second, "alike", fmt.Sprintf("<area href=%q>", numbered(random.IntN(n)))))
				if k%11 == 0 {
					r.settle()
				}
			}
			r.settle()
			r.checkAll(fmt.Sprintf("seed %d, all are back", seed))
		}
	}
}

// checkAll compares with the batch, documents and all.
func (r *stepRig) checkAll(when string) {
	r.t.Helper()
	diff, err := webtest.Differences(r.t.Context(), r.DB, r.documents(), r.fetches, webtest.Comparison{Limits: r.limits})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(diff) > 0 {
		r.t.Fatalf("%s: %d differences, the first %.300s", when, len(diff), diff[0])
	}
}

// hubTest is a page with many inlinks, in a store on disk. The link rows are as the
// observer links leaves them, but without their sources, whose fetches would take longer
// than everything else.
type hubTest struct {
	t     *testing.T
	rig   *webtest.Rig
	meter *meteredTable
	url   page.URL
	n     int
}

const hubAnchors = 1000 // different ones

func newHubTest(t *testing.T, n, part int) *hubTest {
	limits := observers.Limits{Document: document.Limits{InlinkRows: part}}
	db, err := badgerdb.Open(t.TempDir(), txn.Groups(schema.Groups()...), badgerdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, db)
	h := &hubTest{t: t, meter: meter(db), url: "https://hub.example/", n: n}
	if h.rig, err = webtest.Open(t.Context(), webtest.Options{Table: h.meter, Events: h.meter.events(), Limits: limits}); err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, h.rig)
	h.load(pageAt(h.url, 1, "hub", ""))
	h.settle()
	for i := 0; i < n; i += 1000 {
		h.must(h.rig.Tamper(t.Context(), func(tx *txn.Txn) error {
			for k := i; k < min(i+1000, n); k++ {
				h.link(tx, k)
			}
			return nil
		}))
	}
	return h
}

// link writes the row of a link. Every thousandth source has a rank that grows with its
// anchor.
func (h *hubTest) link(tx *txn.Txn, i int) {
	source := page.URL(fmt.Sprintf("https://s%d.example/%d", i%1013, i))
	tx.Set(schema.PairRow(h.url, source), schema.Anchors, schema.EncodeAnchors([]string{fmt.Sprintf("anchor %03d", i%hubAnchors)}))
	if i < hubAnchors {
		tx.Set(schema.URLRow(source), schema.RankState, schema.StoredRankState{Inlinks: 1, In: 1, Rank: 1 + float64(i)/hubAnchors}.Encode())
	}
}

func (h *hubTest) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hubTest) load(f *page.Fetch) {
	h.t.Helper()
	_, err := h.rig.Load(h.t.Context(), f)
	h.must(err)
	h.meter.loaded()
}

func (h *hubTest) settle() (steps int) {
	h.t.Helper()
	for ; ; steps++ {
		more, err := h.rig.Step(h.t.Context(), nil)
		h.must(err)
		if !more {
			return steps
		}
	}
}

func (h *hubTest) document() *index.Document {
	h.t.Helper()
	for _, d := range h.rig.Sink.(*webtest.Sink).Documents() {
		if d.URL == h.url {
			return d
		}
	}
	h.t.Fatal("the hub is not in the index")
	return nil
}

// TestHub exports a page with 20,000 inlinks, and then one more link: the count is true,
// the anchors are those of the best sources, and no run reads, writes or holds more than
// its part. With INDEXER_LONG=1 there are 1,000,000.
func TestHub(t *testing.T) {
	n, part := 20_000, 2000
	if long {
		n, part = 1_000_000, 25_000 // as usual
	}
	h := newHubTest(t, n, part)
	h.meter.reset()
	before := liveHeap()
	began := time.Now()
	h.load(pageAt("https://one.example/", 2, "one more", fmt.Sprintf("<area href=%q alt='anchor 007'>", h.url)))
	peak := before
	steps := 0
	for ; ; steps++ {
		more, err := h.rig.Step(t.Context(), nil)
		h.must(err)
		if !more {
			break
		}
		if steps%8 == 0 {
			peak = max(peak, liveHeap())
		}
	}
	t.Logf("%d inlinks in %d transactions, %v; heap %d KiB more; most cells read in a run %v", n, steps, time.Since(began), (peak-before)>>10, h.meter.reads)
	d := h.document()
	if d.Inlinks != n+1 || len(d.Anchors) != document.DefaultAnchors {
		t.Errorf("%d inlinks of %d, %d anchors", d.Inlinks, n+1, len(d.Anchors))
	}
	// The best are those with the greatest numbers, since all are equally frequent.
	for _, a := range d.Anchors {
		if a.Text < fmt.Sprintf("anchor %03d", hubAnchors-document.DefaultAnchors) || a.Count != n/hubAnchors {
			t.Errorf("anchor %v", a)
		}
	}
	// A pass reads all rows once; those before the 201st anchor was met once more; and the sources' ranks.
	passes := h.meter.runs["count"] * part
	if passes > 2*n+20*part {
		t.Errorf("%d runs of count for one link", h.meter.runs["count"])
	}
	if got := h.meter.reads["count"]; got > 4*part+2*512 {
		t.Errorf("a run of count has read %d cells", got)
	}
	h.meter.atMost(t, 30, nil)
	// This includes the store's cache of blocks.
	if grown := peak - before; grown > 64<<20 {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	h.more(n+1, part)
}

// more makes links arrive during a pass: however many they are, they cost the current
// pass, and one or two after it.
func (h *hubTest) more(n, inlinkPart int) {
	t := h.t
	h.meter.reset()
	const links = 40
	for i := range links {
		h.load(pageAt(numbered(i), 3, fmt.Sprint("source ", i), fmt.Sprintf("<area href=%q alt='anchor 007'>", h.url)))
		for range 3 {
			_, err := h.rig.Step(t.Context(), nil)
			h.must(err)
		}
	}
	h.settle()
	if d := h.document(); d.Inlinks != n+links {
		t.Errorf("%d inlinks of %d", d.Inlinks, n+links)
	}
	t.Logf("%d links while they are counted: runs %v", links, h.meter.runs)
	if got := h.meter.reads["index"]; got > 500 { // now it knows that there are many
		t.Errorf("a run of index has read %d cells", got)
	}
	if most := 3*links + 3*(n/inlinkPart+8); h.meter.runs["count"] > most {
		t.Errorf("%d runs of count for %d links that came in the middle, want at most %d", h.meter.runs["count"], links, most)
	}
}

// TestPassesAndSummaries: a member of a giant cluster comes and goes while its inlinks are
// counted in passes. A pass that began with a summary that was behind the members must not be
// the last: the number of members would stay wrong.
func TestPassesAndSummaries(t *testing.T) {
	limits := observers.Limits{Cluster: giants(4), Document: document.Limits{InlinkRows: 5}}
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(4, 40, 400))) {
		random := rand.New(rand.NewPCG(seed, 19))
		r := openStepRigOf(t, webtest.Options{Limits: limits})
		for i := range 6 {
			r.load(pageAt(numbered(i), 1, "alike", ""))
		}
		r.settle()
		for second := 2; second < 40; second++ {
			f := pageAt(numbered(6), second, "alike", "")
			if second%2 == 1 {
				f = &page.Fetch{URL: numbered(6), Time: time.Unix(int64(second), 0), Status: http.StatusGone}
			}
			r.load(f)
			for range random.IntN(12) {
				if _, err := r.Step(t.Context(), random.IntN); err != nil {
					t.Fatal(err)
				}
			}
			if second%4 == 0 {
				if err := r.Quiesce(t.Context(), random.IntN); err != nil {
					t.Fatal(err)
				}
				r.checkAll(fmt.Sprintf("seed %d, second %d", seed, second))
			}
		}
	}
}

// liveHeap returns how much the heap holds, in bytes.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// countingSink counts the exports of a document: each is the end of a pass.
type countingSink struct {
	*webtest.Sink
	url     page.URL
	exports atomic.Int64
}

func (s *countingSink) Apply(ctx context.Context, changes []index.Change) error {
	for _, c := range changes {
		if c.Doc != nil && c.Doc.URL == s.url {
			s.exports.Add(1)
		}
	}
	return s.Sink.Apply(ctx, changes)
}

// TestCountIsDebounced: in a crawl that finds a link to a hub every second, its inlinks
// are counted once in a while. When the crawl ends, they are counted at once.
func TestCountIsDebounced(t *testing.T) {
	limits := observers.Limits{Document: document.Limits{InlinkRows: 10}}
	synctest.Test(t, func(t *testing.T) {
		hub := page.URL("https://hub.example/")
		sink := &countingSink{Sink: webtest.NewSink(), url: hub}
		r, err := webtest.Open(t.Context(), webtest.Options{Workers: 2, Sink: sink, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}()
		load := func(f *page.Fetch) {
			t.Helper()
			if _, err := r.Load(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		link := func(i int) {
			load(pageAt(numbered(i), 1, fmt.Sprint("source ", i), fmt.Sprintf("<area href=%q>", hub)))
		}
		load(pageAt(hub, 1, "hub", ""))
		for i := range 30 {
			link(i)
		}
		if err := r.Quiesce(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		sink.exports.Store(0)
		const seconds = 625
		for i := range seconds {
			link(30 + i)
			time.Sleep(time.Second)
		}
		if n := sink.exports.Load(); n < seconds/100 || n > seconds/30 {
			t.Errorf("%d passes in %d s", n, seconds)
		}
		before := sink.exports.Load()
		if err := r.Quiesce(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if n := sink.exports.Load() - before; n < 1 || n > 3 {
			t.Errorf("%d passes at the end", n)
		}
		for _, d := range sink.Documents() {
			if d.URL == hub && d.Inlinks != 30+seconds {
				t.Errorf("%d inlinks", d.Inlinks)
			}
		}
	})
}
