package observers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
)

func pageAt(u page.URL, second int, text, rest string) *page.Fetch {
	return &page.Fetch{
		URL: u, Time: time.Unix(int64(second), 0), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte("<html lang=en><p>" + strings.Repeat(text+" ", 32) + rest),
	}
}

func redirectAt(u, target page.URL, second int) *page.Fetch {
	return &page.Fetch{URL: u, Time: time.Unix(int64(second), 0), Status: http.StatusFound, Header: http.Header{"Location": {string(target)}}}
}

func numbered(i int) page.URL { return page.MustParseURL(fmt.Sprintf("https://n.example/%d", i)) }

// stepRig loads and settles, and compares with the batch at the end.
type stepRig struct {
	*webtest.Rig
	t       *testing.T
	meter   *meteredTable // nil: none
	limits  observers.Limits
	fetches []*page.Fetch
}

func openStepRig(t *testing.T, table store.Table) *stepRig {
	t.Helper()
	return openStepRigOf(t, webtest.Options{Table: table})
}

func openStepRigOf(t *testing.T, opts webtest.Options) *stepRig {
	t.Helper()
	meter, _ := opts.Table.(*meteredTable)
	if meter != nil {
		opts.Events = meter.events()
	}
	r, err := webtest.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	return &stepRig{Rig: r, t: t, meter: meter, limits: opts.Limits}
}

func (r *stepRig) load(fetches ...*page.Fetch) {
	r.t.Helper()
	for _, f := range fetches {
		if _, err := r.Load(r.t.Context(), f); err != nil {
			r.t.Fatal(err)
		}
	}
	if r.meter != nil {
		r.meter.loaded()
	}
	r.fetches = append(r.fetches, fetches...)
}

// settle returns how many transactions it took.
func (r *stepRig) settle() int {
	r.t.Helper()
	for n := 0; ; n++ {
		more, err := r.Step(r.t.Context(), nil)
		if err != nil {
			r.t.Fatal(err)
		}
		if !more {
			return n
		}
	}
}

func (r *stepRig) documents() []*index.Document { return r.Sink.(*webtest.Sink).Documents() }

func (r *stepRig) check() {
	r.t.Helper()
	diff, err := webtest.Differences(r.t.Context(), r.DB, nil, r.fetches, webtest.Comparison{Limits: r.limits})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range diff {
		if !strings.HasPrefix(d, "- document") { // their members may be cut; compared by the caller
			r.t.Error(d)
		}
	}
}

// TestManyPredecessors: a change of a page to which many redirects lead is passed
// on in bounded transactions; when it changes again in the middle, that begins
// again and still none is forgotten.
func TestManyPredecessors(t *testing.T) {
	n := testenv.Size(750, 3000, 6000) + 1
	table := newMeteredTable(t)
	r := openStepRig(t, table)
	target := page.URL("https://t.example/")
	for i := range n {
		r.load(redirectAt(numbered(i), target, 1))
	}
	r.settle()
	table.reset()
	r.load(pageAt(target, 2, "first", ""))
	for range 6 { // document, cluster, some of spread
		if _, err := r.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	r.load(pageAt(target, 3, "second", ""))
	steps := r.settle()
	// Twice through, by 500 in spread and by 32 in cluster, and the redirects' own
	// runs of spread.
	if most := 2*(n/500+1) + 4*(n/32+1) + 20; steps > most {
		t.Errorf("%d transactions for %d redirects, want at most %d", steps, n, most)
	}
	// rank has a bound of its own: it takes all URLs that are woken by then, and writes each once.
	table.atMost(t, 600, map[string]int{"rank": 4*2048 + 100})
	r.check()
	docs := r.documents()
	if len(docs) != 1 || docs[0].MembersTotal != n+1 || len(docs[0].Members) != min(n+1, document.DefaultMembers) {
		t.Errorf("%d documents, the first with %d members, %d of them shown", len(docs), docs[0].MembersTotal, len(docs[0].Members))
	}
}

// TestGiantCluster: however many members a cluster has, one that comes or goes
// costs a few small transactions, and the canonical URL is always shown.
func TestGiantCluster(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = document.DefaultMembers + 50
	}
	table := newMeteredTable(t)
	r := openStepRig(t, table)
	for i := range n {
		r.load(pageAt(numbered(i), 1, "alike", ""))
	}
	r.settle()
	table.reset()
	short := page.URL("https://z.ex/") // the last in byte order, and the shortest
	r.load(pageAt(short, 2, "alike", ""))
	if steps := r.settle(); steps > 6 {
		t.Errorf("%d transactions for one more member", steps)
	}
	docs := r.documents()
	if len(docs) != 1 || docs[0].URL != short || docs[0].MembersTotal != n+1 || docs[0].Members[document.DefaultMembers-1] != short {
		t.Errorf("%d documents, shown as %s with %d members", len(docs), docs[0].URL, docs[0].MembersTotal)
	}
	r.load(&page.Fetch{URL: short, Time: time.Unix(3, 0), Status: http.StatusGone})
	if steps := r.settle(); steps > 6 {
		t.Errorf("%d transactions for one member less", steps)
	}
	if docs := r.documents(); docs[0].URL != numbered(0) || docs[0].MembersTotal != n {
		t.Errorf("shown as %s with %d members", docs[0].URL, docs[0].MembersTotal)
	}
	if got := table.largest; got > 20 {
		t.Errorf("a transaction of %d mutations", got)
	}
	r.check()
}

// TestPopularTarget: one more link to a page with many inlinks is a few small
// transactions, and so is the move of all of them to another canonical URL.
func TestPopularTarget(t *testing.T) {
	n := testenv.Size(2500, 5000, 20_000)
	table := newMeteredTable(t)
	r := openStepRig(t, table)
	hub := page.URL("https://hub.example/long-name")
	r.load(pageAt(hub, 1, "hub", ""))
	for i := range n {
		r.load(pageAt(numbered(i), 1, fmt.Sprint("source ", i), fmt.Sprintf("<area href=%q alt='anchor %d'>", hub, i%300)))
	}
	r.settle()
	table.reset()
	r.load(pageAt(numbered(n), 2, "one more", fmt.Sprintf("<area href=%q alt='anchor 7'>", hub)))
	if steps := r.settle(); steps > 10 {
		t.Errorf("%d transactions for one more link", steps)
	}
	short := page.URL("https://hub.example/")
	r.load(pageAt(short, 3, "hub", ""))
	if steps := r.settle(); steps > 6 {
		t.Errorf("%d transactions for a shorter URL", steps)
	}
	if got := table.largest; got > 30 {
		t.Errorf("a transaction of %d mutations", got)
	}
	for _, d := range r.documents() {
		if d.URL != hub { // which has the rank
			continue
		}
		if d.MembersTotal != 2 || d.Inlinks != n+1 || len(d.Anchors) != document.DefaultAnchors || d.Anchors[0].Text == "" || d.Anchors[0].Count < n/300 {
			t.Errorf("%d inlinks, %d anchors, the first %v", d.Inlinks, len(d.Anchors), d.Anchors[0])
		}
		r.check()
		return
	}
	t.Error("the hub is not in the index")
}

// TestHubInParts: the inlinks of a hub are read in parts, each by a run of its own; links
// that arrive in the middle are counted, and so are removed ones.
func TestHubInParts(t *testing.T) {
	const part = 100
	n := testenv.Size(500, 2000, 4000)
	limits := observers.Limits{Document: document.Limits{InlinkRows: part}}
	r := openStepRigOf(t, webtest.Options{Table: newMeteredTable(t), Limits: limits})
	hub := page.URL("https://hub.example/")
	linked := func(i, second int) *page.Fetch {
		return pageAt(numbered(i), second, fmt.Sprint("source ", i), fmt.Sprintf("<area href=%q alt='anchor %d'>", hub, i%300))
	}
	r.load(pageAt(hub, 1, "hub", ""))
	for i := range n {
		r.load(linked(i, 1))
	}
	r.settle()
	inlinks := func() int {
		t.Helper()
		for _, d := range r.documents() {
			if d.URL == hub {
				return d.Inlinks
			}
		}
		t.Fatal("the hub is not in the index")
		return 0
	}
	if got := inlinks(); got != n {
		t.Errorf("%d inlinks of %d", got, n)
	}
	r.load(linked(n, 2))
	parts := n/part + 1
	for range parts / 2 { // into the pass
		if _, err := r.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := inlinks(); got != n {
		t.Errorf("%d inlinks before the pass has ended, %d before", got, n)
	}
	for i := range 3 { // gone, from the part that was read
		r.load(&page.Fetch{URL: numbered(i), Time: time.Unix(3, 0), Status: http.StatusGone})
	}
	// The pass under way, and one or two more.
	if steps := r.settle(); steps < parts || steps > 4*parts+40 {
		t.Errorf("%d transactions for passes of %d parts", steps, parts)
	}
	if got := inlinks(); got != n-2 {
		t.Errorf("%d inlinks, want %d", got, n-2)
	}
	r.check()
}

// TestSpreadBeginsAnew: a walk that changes while the one before is being passed
// on is passed on from the beginning.
func TestSpreadBeginsAnew(t *testing.T) {
	s, err := webtest.NewStage(t.Context(), observers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var fetches []*page.Fetch
	load := func(f *page.Fetch) {
		t.Helper()
		fetches = append(fetches, f)
		if _, err := s.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	run := func(observers ...string) {
		t.Helper()
		for _, o := range observers {
			if err := s.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	target := page.URL("https://t.example/")
	for i := range 600 { // more than one run of spread wakes
		load(redirectAt(numbered(i), target, 1))
	}
	run("")
	load(pageAt(target, 2, "first", ""))
	run("document", "cluster", "spread") // 500 are woken
	load(pageAt(target, 3, "second", ""))
	run("cluster") // they follow to the first
	run("document", "cluster", "")
	diff, err := webtest.Differences(t.Context(), s.DB, s.Sink.Documents(), fetches, webtest.Comparison{})
	if err != nil || len(diff) > 0 {
		t.Errorf("%v, %d differences: %.300q", err, len(diff), diff)
	}
}

// largest is a Sink that notes the most bytes of text in one write.
type largest struct {
	*webtest.Sink
	text int
}

func (l *largest) Apply(ctx context.Context, changes []index.Change) error {
	text := 0
	for _, c := range changes {
		text += len(c.Doc.Text)
	}
	l.text = max(l.text, text)
	return l.Sink.Apply(ctx, changes)
}

// TestLargeTexts: documents with long texts are exported in several runs, so that they are not all
// in memory.
func TestLargeTexts(t *testing.T) {
	sink := &largest{Sink: webtest.NewSink()}
	r := openStepRigOf(t, webtest.Options{Sink: sink})
	const pages, size = 9, 3 << 20
	for i := range pages {
		r.load(pageAt(numbered(i), i, fmt.Sprint("page", i), strings.Repeat("word ", size/5)))
	}
	r.settle()
	if n := len(sink.Documents()); n != pages {
		t.Errorf("%d documents, want %d", n, pages)
	}
	if sink.text < 2*size || sink.text > 4*size {
		t.Errorf("up to %d bytes of text in one write, want about %d", sink.text, 8<<20)
	}
}
